import type { AssembleJob, ErrorData, SummaryCall, WakeJob } from '@heddle/contracts'
import type { CarriedOut, Job } from '@heddle/queue'
import type { Config } from '@heddle/runtime'
import type { NewEvent } from '@heddle/store'
import type { ConfigurationPlace } from '../configured-modules.js'

/** What a thread is started with. */
export interface JobThreadData {
  readonly config: Config
  readonly place: ConfigurationPlace
  readonly databaseUrl: string
  /** The name under which the server lists the thread's connections. */
  readonly applicationName: string
  /** The embedder of the process, which answers for the thread; null where it has none. */
  readonly embedder: { readonly model: string; readonly dimensions: number } | null
  readonly summaryCallMsMax: number | null
  /** Bytes of what the next contexts are made of. */
  readonly cacheBytesMax: number
}

/** A job as it crosses into a thread. */
type CrossingJob<Payload> = Omit<Job<Payload>, 'signal'>

export type JobRequest =
  | { readonly stage: 'assemble'; readonly job: CrossingJob<AssembleJob> }
  | { readonly stage: 'prune' | 'summarize' | 'embed'; readonly job: CrossingJob<WakeJob> }

/** What became of the job; an error crosses as data, since a thread hands over no instances of classes. */
export type JobResponse = CarriedOut<NewEvent> | { readonly error: ErrorData }

/** What a thread asks its process for. */
export type JobQuestion =
  | { readonly kind: 'embed'; readonly texts: readonly string[] }
  | { readonly kind: 'note-call'; readonly call: SummaryCall }
