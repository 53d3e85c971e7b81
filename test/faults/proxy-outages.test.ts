import { Agent, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { createClient } from '@heddle/engine'
import { type RunningStages, startStages } from '@heddle/host'
import { createProxy } from '@heddle/proxy'
import { openQueues } from '@heddle/queue'
import { createLogger, loadConfig, systemClock } from '@heddle/runtime'
import { openStore } from '@heddle/store'
import { migratedDatabase, QUEUE_PREFIX, waitFor } from '@heddle/test-support'
import { inParallel } from '@heddle/test-support/parallel'
import { openTcpProxy } from '@heddle/test-support/servers/tcp-proxy'
import { expect, test } from 'vitest'
import { ProxiedConversation, sendThrough, startEchoingProvider, wrongIn } from './proxied-conversations.js'

const CONVERSATIONS = 1_000
const ROUNDS = 6
const AT_ONCE = 20
/** Longer than the default: the store is busy here even when it is well. */
const LATE_MS = 1_000
/** Far above the promised limit, since all processes of a test share the machine; far below that of a connection. */
const TOOK_MS_MAX = 5_000
const log = createLogger({ level: 'silent', name: 'test' })

test(`every request of ${CONVERSATIONS} conversations is answered while store, queues and workers are frozen and killed`, async () => {
  const database = await migratedDatabase()
  const server = await openTcpProxy(database.url)
  const provider = await startEchoingProvider()
  const store = openStore({ url: server.url })
  const queues = await openQueues({
    backend: { kind: 'postgres', url: server.url },
    prefix: QUEUE_PREFIX,
    log,
    create: true,
  })
  const config = { ...loadConfig({ env: { HEDDLE_EMBEDDER: 'hashing' }, cwd: tmpdir() }), project: 'tests' }
  const client = createClient({ store, queues, project: 'tests', settings: config.settings, log })
  const work = () =>
    startStages({ store, queues, config, log, clock: systemClock, stages: ['ingest', 'prune'], reconcile: true })
  let stages: RunningStages = await work()
  const proxy = createProxy({
    upstreams: { anthropic: { url: provider.url, protocol: 'anthropic' } },
    backend: () => ({ clientOf: () => client }),
    lateMs: LATE_MS,
    policy: { resultTokensMin: 500, resultTokensKept: 60 },
    log,
  })
  const door = createServer((incoming, response) =>
    proxy.handle(incoming, response, { enter: async () => ({ project: 'tests' }) }),
  )
  // Otherwise it may close an idle connection at the moment in which a request is sent on it.
  door.keepAliveTimeout = 0
  await new Promise<void>((resolve) => door.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(door.address() as AddressInfo).port}`
  const agent = new Agent({ keepAlive: true })
  const faults: Readonly<Record<number, () => Promise<void> | void>> = {
    1: () => server.silence(),
    2: () => server.speak(),
    3: () => server.stop(),
    4: async () => {
      await server.start()
      await stages.stop()
    },
    5: async () => {
      stages = await work()
    },
  }
  try {
    const conversations = Array.from({ length: CONVERSATIONS }, (_, index) => new ProxiedConversation(`talk-${index}`))
    const wrong: string[] = []
    const times: number[] = []
    let shortened = 0
    const ask = async (conversation: ProxiedConversation) => {
      const body = conversation.next()
      const { status, sent, tookMs } = await sendThrough(agent, url, conversation.name, body)
      if (status !== 200) wrong.push(`${conversation.name}: status ${status}`)
      wrong.push(...wrongIn(body, sent).map((fault) => `${conversation.name}: ${fault}`))
      times.push(tookMs)
      if (sent !== body) shortened++
    }
    // One after another the store is fast enough for results to be shortened, which later requests have to repeat.
    for (const conversation of conversations.slice(0, AT_ONCE)) await ask(conversation)
    expect(shortened).toBeGreaterThan(0)
    for (let round = 0; round < ROUNDS; round++) {
      let done = 0
      await inParallel(conversations, AT_ONCE, async (conversation) => {
        // In the middle of the round, with requests under way.
        if (++done === CONVERSATIONS / 2) await faults[round]?.()
        await ask(conversation)
      })
    }
    expect(wrong).toEqual([])
    expect(times).toHaveLength(CONVERSATIONS * ROUNDS + AT_ONCE)
    expect(Math.max(...times)).toBeLessThan(TOOK_MS_MAX)
    await storesAll(conversations.slice(0, 20))
  } finally {
    agent.destroy()
    door.closeAllConnections()
    door.close()
    await proxy.close()
    await provider.close()
    await stages.stop()
    await queues.close()
    await store.close()
    await server.stop()
  }

  /** The next request holds the whole conversation: everything that could not be stored is stored with it. */
  async function storesAll(some: readonly ProxiedConversation[]): Promise<void> {
    for (const conversation of some) {
      const body = conversation.next()
      await sendThrough(agent, url, conversation.name, body)
      await waitFor(async () => {
        const { headSeq } = await client.threads.get(conversation.name)
        return headSeq >= conversation.messages
      })
    }
  }
}, 600_000)
