export type { NewShare, ShareRequest } from './admission/load-report.js'
export type { NewWork } from './admission/queue-capacity.js'
export type { QueueFacts } from './base/backend.js'
export { LISTENING_CONNECTIONS, type QueueConnections } from './base/connections.js'
export { migrateQueues, openQueues } from './open-queues.js'
export type { MigrateQueuesOptions } from './postgres/schema.js'
export type { Queues, StageBacklog, StageStats, StageWake } from './queues.js'
export type { QueuesOptions } from './queues-options.js'
export type { ExpectedReply, ReplyExpectation } from './reply/reply-waiter.js'
export type { EventListener, Unsubscribe } from './reply/subscriptions.js'
export { isAnswerWithin } from './reply/wire-format.js'
export type { WaitingJob } from './send/job-removal.js'
export { LaterWakes } from './send/later-wakes.js'
export { type TracedWake, Wakes, type WakesOptions } from './send/wakes.js'
export type { WorkerHandle } from './worker/define.js'
export type { DeadLetter, Job, Settled, WorkerOptions } from './worker/job.js'
export {
  type CarriedOut,
  hereOrElsewhere,
  LargeJobError,
  type LargeJobs,
  refuseLargeJob,
  type WorkSize,
} from './worker/large-jobs.js'
export { type Answer, done, type NextJob, type Outcome, skipped } from './worker/outcome.js'
export { type Reconciler, type ReconcilerOptions, startReconciler } from './worker/reconciler.js'
export { defineWakeWorker, type WakeWorkerDeps } from './worker/wake-worker.js'
