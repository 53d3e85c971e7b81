import { randomUUID } from 'node:crypto'
import { Agent, request } from 'node:http'
import { setTimeout } from 'node:timers/promises'
import type { Measured } from '@heddle/test-support/figure'
import { inParallel } from '@heddle/test-support/parallel'
import { withBench } from '../bench.js'
import { type GatewayProcess, startGatewayProcess } from '../load/gateways.js'
import { percentile } from '../load/statistics.js'
import { startBareRelay } from './bare-relay.js'
import { GrowingConversation } from './conversation.js'
import { startFastProvider } from './upstream.js'

const TOKENS = 150_000
/** Requests of each conversation, one after another; the first ones are a warm-up. */
const REQUESTS = 220
const WARM_UP = 20
/** Time in which tools run between a reply and the next request; those of agents take longer. */
const TOOLS_MS = 50
/** Requests of each conversation without a pause, while the ones before them are still being stored. */
const RUSHED_REQUESTS = 80
/** Requests whose processor time is measured. */
const CPU_REQUESTS = 50
const CONVERSATIONS = 200
const REQUESTS_OF_EACH = 3

export const proxyNames = [
  'proxy.bare.p50',
  'proxy.bare.p99',
  ...['observe', 'compact'].flatMap((mode) => [
    `proxy.${mode}.p50`,
    `proxy.${mode}.p99`,
    `proxy.${mode}.rushed`,
    `proxy.${mode}.cpu`,
  ]),
  'proxy.conversations200.lost',
  'proxy.conversations200.p99',
  'proxy.memory',
]

interface Target {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}

/**
 * The time that the proxy adds to the first byte of a reply, at conversations of 150,000 tokens that grow with each request:
 * alternating with requests straight to the provider, which answers at once; with a pause between requests, and without any.
 * Then 200 such conversations at the same moment. The
 * proxy has a process and a store of its own; the provider and the agents share this one.
 */
export async function measureProxy(): Promise<Measured[]> {
  return withBench('embedded', async (bench) => {
    const stages = await bench.startUpkeptStages('ingest', 'prune', 'summarize', 'assemble')
    const provider = await startFastProvider()
    const gateway = await startGatewayProcess(bench, { upstream: provider.url })
    const bare = await startBareRelay(provider.url)
    const agent = new Agent({ keepAlive: true })
    const proxied = (mode: string): Target => ({ url: `${gateway.url}/anthropic`, headers: { 'x-heddle-mode': mode } })
    try {
      const direct = { url: provider.url, headers: {} }
      const plain = { url: bare.url, headers: {} }
      const targets = { direct, bare: plain, observe: proxied('observe'), compact: proxied('compact') }
      const times = await alternately(agent, targets, { requests: REQUESTS, pauseMs: TOOLS_MS })
      const rushed = await alternately(agent, targets, { requests: RUSHED_REQUESTS, pauseMs: 0 })
      const added = (mode: 'bare' | 'observe' | 'compact', share: number, of = times) =>
        percentile(of[mode], share) - percentile(of.direct, share)
      const note = `direct: p50 ${percentile(times.direct, 0.5).toFixed(2)} ms, p99 ${percentile(times.direct, 0.99).toFixed(2)} ms`
      const cpu = {
        observe: await cpuMs(agent, gateway, proxied('observe')),
        compact: await cpuMs(agent, gateway, proxied('compact')),
      }
      const memoryBefore = await gateway.usage()
      const many = await atOnce(proxied('observe'))
      const memory = await gateway.usage()
      return [
        { name: 'proxy.bare.p50', value: added('bare', 0.5), unit: 'ms', note: BARE_NOTE },
        { name: 'proxy.bare.p99', value: added('bare', 0.99), unit: 'ms', note: BARE_NOTE },
        { name: 'proxy.observe.p50', value: added('observe', 0.5), unit: 'ms', target: '<= 2', note },
        { name: 'proxy.observe.p99', value: added('observe', 0.99), unit: 'ms', target: '<= 15', note },
        { name: 'proxy.compact.p50', value: added('compact', 0.5), unit: 'ms', target: '<= 10', note },
        { name: 'proxy.compact.p99', value: added('compact', 0.99), unit: 'ms', target: '<= 40', note },
        { name: 'proxy.observe.rushed', value: added('observe', 0.5, rushed), unit: 'ms', note: RUSHED_NOTE },
        { name: 'proxy.compact.rushed', value: added('compact', 0.5, rushed), unit: 'ms', note: RUSHED_NOTE },
        { name: 'proxy.observe.cpu', value: cpu.observe, unit: 'ms', note: CPU_NOTE },
        { name: 'proxy.compact.cpu', value: cpu.compact, unit: 'ms', note: CPU_NOTE },
        { name: 'proxy.conversations200.lost', value: many.lost, unit: 'requests', target: '<= 0' },
        { name: 'proxy.conversations200.p99', value: percentile(many.times, 0.99), unit: 'ms' },
        {
          name: 'proxy.memory',
          value: memory.bytesMax / 2 ** 20,
          unit: 'MiB',
          note: `most memory of the process with ${CONVERSATIONS} conversations; before them ${Math.round(memoryBefore.bytesNow / 2 ** 20)}, after them ${Math.round(memory.bytesNow / 2 ** 20)}`,
        },
      ]
    } finally {
      agent.destroy()
      await bare.stop()
      await gateway.stop()
      await provider.close()
      await stages.stop()
    }
  })
}

async function alternately<Name extends string>(
  agent: Agent,
  targets: Record<Name, Target>,
  { requests, pauseMs }: { readonly requests: number; readonly pauseMs: number },
): Promise<Record<Name, number[]>> {
  const names = Object.keys(targets) as Name[]
  const conversations = names.map(() => new GrowingConversation(randomUUID(), TOKENS))
  const times = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Name, number[]>
  for (let round = 0; round < requests; round++) {
    for (const [index, name] of names.entries()) {
      const body = (conversations[index] as GrowingConversation).next()
      const tookMs = await firstByteMs(agent, targets[name], body)
      if (round >= WARM_UP) times[name].push(tookMs)
      if (pauseMs > 0) await setTimeout(pauseMs)
    }
  }
  return times
}

const BARE_NOTE = 'added by a process of Node that only relays: no proxy in Node adds less'
const RUSHED_NOTE = 'p50 without a pause: the request before is being stored meanwhile'
const CPU_NOTE =
  'processor time of the process for each request, storing included: unlike the times it does not depend on other load'

/** The mean processor time of the proxy's process for one more request of a long conversation. */
async function cpuMs(agent: Agent, gateway: GatewayProcess, target: Target): Promise<number> {
  const conversation = new GrowingConversation(randomUUID(), TOKENS)
  for (let request = 0; request < WARM_UP; request++) await firstByteMs(agent, target, conversation.next())
  const before = await gateway.usage()
  for (let request = 0; request < CPU_REQUESTS; request++) await firstByteMs(agent, target, conversation.next())
  return ((await gateway.usage()).cpuMs - before.cpuMs) / CPU_REQUESTS
}

async function atOnce(target: Target): Promise<{ lost: number; times: number[] }> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONVERSATIONS })
  const times: number[] = []
  let lost = 0
  try {
    const conversations = Array.from({ length: CONVERSATIONS }, () => new GrowingConversation(randomUUID(), TOKENS))
    await inParallel(conversations, CONVERSATIONS, async (conversation) => {
      for (let request = 0; request < REQUESTS_OF_EACH; request++) {
        try {
          times.push(await firstByteMs(agent, target, conversation.next()))
        } catch {
          lost++
        }
      }
    })
  } finally {
    agent.destroy()
  }
  return { lost, times }
}

/**
 * Milliseconds until the first byte of the reply's body; the reply is read to its end.
 *
 * @throws Error for a reply that is cut off, or of another status than 200
 */
function firstByteMs(agent: Agent, { url, headers }: Target, body: Buffer): Promise<number> {
  return new Promise((resolve, reject) => {
    const startedMs = performance.now()
    const sending = request(`${url}/v1/messages`, {
      method: 'POST',
      agent,
      headers: { ...headers, 'content-type': 'application/json', 'content-length': body.length },
    })
    sending.once('error', reject)
    sending.once('response', (reply) => {
      let firstMs: number | null = null
      reply.on('data', () => {
        firstMs ??= performance.now() - startedMs
      })
      reply.once('error', reject)
      reply.once('end', () => {
        if (reply.statusCode === 200 && firstMs !== null) resolve(firstMs)
        else reject(new Error(`the reply has status ${reply.statusCode}`))
      })
    })
    sending.end(body)
  })
}
