import type { AssembleJob, ErrorData, PrunedCounts, SummaryCall, WakeJob } from '@heddle/contracts'
import type { TokenArrays } from '@heddle/core'
import type { CarriedOut, Job } from '@heddle/queue'
import type { Config } from '@heddle/runtime'
import type { NewEvent } from '@heddle/store'
import type { ConfigurationPlace } from '../configured-modules.js'

export interface JobThreadData {
  readonly config: Config
  readonly place: ConfigurationPlace
  readonly databaseUrl: string
  /** `application_name` of the thread's connections. */
  readonly applicationName: string
  /** The embedder of the process, which the thread calls; null if it has none. */
  readonly embedder: { readonly model: string; readonly dimensions: number } | null
  readonly summaryCallMsMax: number | null
  /** The table of the tokenizer, which threads share; null if the process has not counted yet. */
  readonly tokens: TokenArrays | null
  /** Limit of cached input for contexts. */
  readonly cacheBytesMax: number
}

/** A job as sent to a thread. */
type SentJob<Payload> = Omit<Job<Payload>, 'signal'>

export type JobRequest =
  | { readonly stage: 'assemble'; readonly job: SentJob<AssembleJob> }
  | { readonly stage: 'prune' | 'summarize' | 'embed' | 'remember'; readonly job: SentJob<WakeJob> }

/** The result of a job. An error is sent as data, since class instances cannot be sent between threads. */
export type JobResponse = CarriedOut<NewEvent> | { readonly error: ErrorData }

/** A call of a thread to its process. */
export type JobQuestion =
  | { readonly kind: 'embed'; readonly texts: readonly string[] }
  | { readonly kind: 'note-call'; readonly call: SummaryCall }
  | { readonly kind: 'note-pruned'; readonly counts: PrunedCounts }
