import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { dismiss, told } from '@heddle/test-support/forked'
import type { CountOrder, WorkerOrder } from './worker-process.js'

/** Workers in a process of their own, as in a deployment: they do not share an event loop with who measures. */
export interface Workers {
  /** Resolves when `jobs` more jobs were done; of no-op workers only. */
  whenDone(jobs: number): Promise<void>
  stop(): Promise<void>
}

const script = fileURLToPath(new URL('./worker-process.js', import.meta.url))

export async function startWorkers(order: WorkerOrder): Promise<Workers> {
  const profile = process.env['HEDDLE_BENCH_PROFILE']
  const child = fork(script, {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    execArgv: profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`],
  })
  child.send(order satisfies WorkerOrder)
  await told(child, 'ready')
  return {
    async whenDone(jobs) {
      child.send({ kind: 'count', jobs } satisfies CountOrder)
      await told(child, 'counted')
    },
    stop: () => dismiss(child),
  }
}
