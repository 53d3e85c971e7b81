import type { Logger } from '@heddle/runtime'
import { bounds } from '../base/bounds.js'
import { settles } from '../base/waiting.js'
import type { BullWorker } from './bull-worker.js'
import { workerStops } from './stopping.js'

/**
 * Stops a worker within a time limit. BullMQ's own close waits for ever for a handler that hangs, and for a server that is
 * down (taskforcesh/bullmq#2430).
 */
export async function closeWorker(worker: BullWorker, timeoutMs: number, log: Logger): Promise<void> {
  // Ends the timer of the check for orphaned jobs, which would keep the process alive.
  await worker.pause(true)
  const closing = worker.close()
  if (await settles(closing, timeoutMs)) return
  worker.cancelAllJobs(workerStops)
  if (await settles(closing, bounds.abortGraceMs)) return
  log.warn({ queue: worker.name, timeoutMs }, 'worker stopped with unfinished jobs; other workers will process them')
  await settles(worker.abandonJobs(), bounds.abortGraceMs)
}
