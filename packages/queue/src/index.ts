export type { NewWork } from './admission.js'
export type { QueueFacts } from './backend.js'
export { LISTENING_CONNECTIONS, type QueueConnections } from './connections.js'
export type { WaitingJob } from './job-removal.js'
export {
  type CarriedOut,
  hereOrElsewhere,
  LargeJobError,
  type LargeJobs,
  refuseLargeJob,
  type WorkSize,
} from './large-jobs.js'
export type { NewShare } from './load-word.js'
export { answerBytes } from './messages.js'
export { type Answer, done, type NextJob, type Outcome, skipped } from './outcome.js'
export { type MigrateQueuesOptions, migrateQueues } from './postgres/schema.js'
export { openQueues, type Queues, type QueuesOptions, type StageStats, type StageWake } from './queues.js'
export { type Reconciler, type ReconcilerOptions, startReconciler } from './reconciler.js'
export type { ExpectedReply, ReplyExpectation } from './reply-waiter.js'
export type { EventListener, Unsubscribe } from './subscriptions.js'
export {
  type DeadLetter,
  defineWorker,
  type Job,
  type Settled,
  type WorkerHandle,
  type WorkerOptions,
} from './worker/define.js'
