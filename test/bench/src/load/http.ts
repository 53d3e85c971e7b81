import { createClient, type RemoteClient } from '@heddle/client/http'
import { hasKeys, readKey } from '@heddle/engine'
import { startGateway } from '@heddle/gateway'
import { createLogger } from '@heddle/runtime'
import type { Measured } from '@heddle/test-support/figure'
import type { Bench } from '../bench.js'
import { conversationOf } from '../contexts/conversation.js'
import { untilSettled } from '../settled.js'
import { interleaved, median, timed } from './statistics.js'

const ROUNDS = 8
const ROUNDS_MS_MAX = 60_000
const PAIRS_PER_ROUND = 100
const MESSAGES = 200
const BUDGET = 16_000

/**
 * The time that HTTP adds to an append of one message and to a build: the same calls over the queue and through a gateway, with
 * a key. They alternate call by call, since the speed of a machine can change by more than HTTP adds within one round. The
 * gateway shares this process with both clients; the workers do not.
 */
export async function measureHttp(bench: Bench): Promise<Measured[]> {
  const { store, projectId, client } = bench
  const stages = await bench.startStages('ingest', 'prune', 'summarize', 'embed', 'assemble')
  const gateway = await startGateway({
    port: 0,
    project: 'bench',
    identity: {},
    log: createLogger({ level: 'error', name: 'bench' }),
    backend: () => ({
      clientOf: () => client,
      keys: { read: (key) => readKey(store, key, Date.now()), hasAny: () => hasKeys(store, projectId) },
      checkShare: () => {},
      readStageStats: async () => [],
      readModelCalls: () => new Map(),
      examine: async () => [],
      checkReady: async () => undefined,
    }),
  })
  try {
    const { key } = await client.keys.create({ name: 'bench', role: 'agent' })
    const remote = createClient({ url: gateway.url, key })
    const [agent, thread] = [bench.fresh('http'), bench.fresh('http')]
    await client.agents.put(agent, { settings: { budget: BUDGET, rollingWindow: null } })
    await client.messages.append({ agent, thread, messages: conversationOf(MESSAGES) })
    await client.threads.waitUntilSettled(thread)
    const append = (over: RemoteClient) =>
      over.messages.append({ agent, thread: bench.fresh('appended'), messages: conversationOf(1) })
    const build = (over: RemoteClient) => over.contexts.build({ thread, budget: BUDGET, format: 'openai-chat' })
    const pairs = (call: (over: RemoteClient) => Promise<unknown>) => async () => {
      await untilSettled(bench, 'appended-')
      return await interleaved(PAIRS_PER_ROUND, {
        queue: () => timed(() => call(client)),
        http: () => timed(() => call(remote)),
      })
    }
    const rounds = await interleaved(ROUNDS, { append: pairs(append), build: pairs(build) }, ROUNDS_MS_MAX)
    const added = (name: 'append' | 'build'): Measured => {
      const tookMs = rounds[name].flatMap((round) => round.http)
      const http = median(tookMs)
      const queue = median(rounds[name].flatMap((round) => round.queue))
      return {
        name: `http.added.${name}`,
        value: http - queue,
        unit: 'ms',
        target: '<= 3',
        note: `p50 of ${tookMs.length} calls each: ${http.toFixed(2)} ms over HTTP, ${queue.toFixed(2)} ms over the queue`,
      }
    }
    return [added('append'), added('build')]
  } finally {
    await gateway.close()
    await stages.stop()
  }
}
