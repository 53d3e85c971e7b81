import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createClient, type RemoteClient } from '@heddle/client/http'
import type { Measured } from '@heddle/test-support/figure'
import { inParallel } from '@heddle/test-support/parallel'
import { textOf } from '@heddle/test-support/samples/texts'
import { type Bench, openBench } from '../bench.js'
import { startGatewayProcess } from '../load/gateways.js'
import { interleaved, median, timed } from '../load/statistics.js'
import { untilSettled } from '../settled.js'

const THREADS = 500
const MESSAGES = 2_000
const APPENDS_AT_ONCE = 50
const ROUNDS = 12
const ROUNDS_MS_MAX = 180_000
/** The default of `HEDDLE_TELEMETRY_SAMPLED`. */
const SAMPLED = 0.1

/**
 * One message a request over HTTP, until stored, by two deployments on one database: a gateway and a process of all stages
 * whose traces and metrics go to a collector, and the same two without telemetry, which are the ceiling. The collector shares
 * the measuring process and reads nothing of what it receives.
 */
export async function measureTracedIngest(bench: Bench): Promise<Measured[]> {
  const collector = await startCollector()
  const traced = await openBench(bench.servers)
  try {
    const env = { HEDDLE_TELEMETRY_URL: collector.url, HEDDLE_TELEMETRY_SAMPLED: String(SAMPLED) }
    const [on, off] = await Promise.all([startDeployment(traced, env), startDeployment(bench, {})])
    const round = async ({ client, cpuMs }: Deployment, kind: string, number: number): Promise<Round> => {
      const cpuBeforeMs = await cpuMs()
      const tookMs = await timed(() => append(client, kind, number))
      await untilSettled(bench, `${kind}-`)
      return { tookMs, cpuMs: (await cpuMs()) - cpuBeforeMs }
    }
    const rounds = await interleaved(
      ROUNDS,
      { on: (number) => round(on, 'traced', number), off: (number) => round(off, 'untraced', number) },
      ROUNDS_MS_MAX,
    )
    await Promise.all([on.stop(), off.stop()])
    if (collector.requests() === 0) throw new TypeError('the collector received nothing')
    const rate = (of: readonly Round[]) => (MESSAGES * 1_000) / median(of.map(({ tookMs }) => tookMs))
    const cpu = (of: readonly Round[]) => median(of.map(({ cpuMs }) => cpuMs)) / MESSAGES
    const { backend } = bench.servers
    const note = `${SAMPLED} of the traces recorded; ${rounds.on.length} rounds`
    return [
      {
        name: `ingest.traced.${backend}`,
        value: rate(rounds.on),
        unit: 'messages/s',
        ceiling: rate(rounds.off),
        target: '>= 0.97',
        note,
      },
      {
        name: `ingest.traced.cpu.${backend}`,
        value: cpu(rounds.on),
        unit: 'ms/message',
        ceiling: cpu(rounds.off),
        target: '<= 1.03',
        note,
      },
    ]
  } finally {
    await traced.close()
    await collector.close()
  }
}

interface Round {
  readonly tookMs: number
  readonly cpuMs: number
}

interface Deployment {
  readonly client: RemoteClient
  /** Processor time of its processes so far. */
  cpuMs(): Promise<number>
  stop(): Promise<void>
}

async function startDeployment(bench: Bench, env: Readonly<Record<string, string>>): Promise<Deployment> {
  const stages = await bench.startStagesWith(env, 'ingest', 'prune', 'summarize', 'embed', 'assemble')
  const gateway = await startGatewayProcess(bench, { env })
  return {
    client: createClient({ url: gateway.url }),
    cpuMs: async () => (await gateway.usage()).cpuMs + (await stages.cpuMs()),
    async stop() {
      await gateway.stop()
      await stages.stop()
    },
  }
}

async function append(client: RemoteClient, kind: string, round: number): Promise<void> {
  const numbers = Array.from({ length: MESSAGES }, (_, index) => round * MESSAGES + index)
  await inParallel(numbers, APPENDS_AT_ONCE, (number) =>
    client.messages.append({
      agent: 'producer',
      thread: `${kind}-${number % THREADS}`,
      messages: [{ role: 'user', content: textOf(number) }],
      newAgentRollingWindow: null,
    }),
  )
}

interface Collector {
  readonly url: string
  requests(): number
  close(): Promise<void>
}

async function startCollector(): Promise<Collector> {
  let requests = 0
  const server = createServer((request, response) => {
    requests++
    request.resume().once('end', () => response.setHeader('content-type', 'application/json').end('{}'))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: () => requests,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
