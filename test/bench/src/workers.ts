import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { StageName } from '@heddle/contracts'
import { dismiss, told } from '@heddle/test-support/forked'
import type { CountOrder, UsageAnswer, UsageOrder, WorkerOrder } from './worker-process.js'

/** Workers in a process of their own, as in a deployment: they do not share an event loop with the measuring process. */
export interface Workers {
  /** Resolves when `jobs` more jobs were done; of no-op workers only. */
  whenDone(jobs: number): Promise<void>
  /** The peak memory of the process so far. */
  peakBytes(): Promise<number>
  /** The processor time of the process since it began, in milliseconds. */
  cpuMs(): Promise<number>
  usage(): Promise<UsageAnswer>
  stop(): Promise<void>
}

/** Megabytes of the young generation, as docker-compose.yml sets it for the workers of a stage. */
const SEMI_SPACES: Partial<Record<StageName, number>> = { ingest: 16, summarize: 4 }
const script = fileURLToPath(new URL('./worker-process.js', import.meta.url))

function nurseryOf(stages: readonly StageName[]): string[] {
  const sizes = stages.map((stage) => SEMI_SPACES[stage] ?? 0)
  const megabytes = Math.max(0, ...sizes)
  return megabytes === 0 ? [] : [`--max-semi-space-size=${megabytes}`]
}

export async function startWorkers(order: WorkerOrder): Promise<Workers> {
  const profile = process.env['HEDDLE_BENCH_PROFILE']
  const child = fork(script, {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    execArgv: [
      ...nurseryOf(order.stages),
      ...(profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`]),
    ],
  })
  child.send(order satisfies WorkerOrder)
  await told(child, 'ready')
  async function usage(): Promise<UsageAnswer> {
    const answer = once(child, 'message') as Promise<[UsageAnswer]>
    child.send({ kind: 'usage' } satisfies UsageOrder)
    return (await answer)[0]
  }
  return {
    async whenDone(jobs) {
      child.send({ kind: 'count', jobs } satisfies CountOrder)
      await told(child, 'counted')
    },
    peakBytes: async () => (await usage()).peakBytes,
    cpuMs: async () => (await usage()).cpuMs,
    usage,
    stop: () => dismiss(child),
  }
}
