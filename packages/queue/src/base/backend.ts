import type { BackendFactory, ConnectionOptions } from 'bullmq'
import type { Channels } from '../reply/channels.js'
import type { TextQueue } from '../send/text-queue.js'

/** The server of one `Queues`: everything that differs between Redis and Postgres. */
export interface Backend {
  readonly server: 'Redis' | 'Postgres'
  readonly channels: Channels
  /** Whether the prefix was created, by a worker or by `heddle migrate`. */
  isKnown(): Promise<boolean>
  /** The first other prefixes that were created, in alphabetical order. */
  otherPrefixes(): Promise<readonly string[]>
  /** Connection settings of BullMQ's queues and workers. */
  producers(): BullSetup
  workers(): Promise<BullSetup>
  facts(): Promise<QueueFacts>
  /** Rejects while the server does not accept writes, with the reason and a hint. */
  probe(): Promise<void>
  /** The backlogs of queues, in their order, by the server's clock and in one round trip. */
  backlogs(queues: readonly string[]): Promise<readonly Backlog[]>
  /** The job that holds each deduplication key; keys without a holder are left out. */
  keyHolders(queue: TextQueue, keys: readonly string[]): Promise<ReadonlyMap<string, KeyHolder>>
  /** Adds the causes of wakes that were merged into a waiting job to it, for its trace; a job that has begun stays as it is. */
  addCauses(queue: string, wakes: readonly TracedJob[]): Promise<void>
  /** The waiting jobs of a queue, counted up to a little more than `jobsMax`. */
  depth(queue: string, jobsMax: number): Promise<QueueDepth>
  /** Gives the space of finished jobs back to the disk where it can; returns how many tables it shrank. */
  releaseSpace(): Promise<number>
  /** Drops every connection without waiting for a server that is down. */
  close(): Promise<void>
  /** Removes all data of the prefix. */
  destroy(): Promise<void>
}

/** An added wake, which another job of its thread may have taken in. */
export interface TracedJob {
  readonly jobId: string
  /** Its deduplication key. */
  readonly key: string
  readonly carrier: string
}

/** The job that holds a deduplication key, so that further wakes of its thread are merged. */
export interface KeyHolder {
  readonly jobId: string
  /** BullMQ's state of the job; `unknown` if it no longer exists. */
  readonly state: string
}

/** The jobs of a queue that a worker could fetch at this moment, if the queue is not paused. */
export interface Backlog {
  /** Without a delay, those with a priority included. */
  readonly waiting: number
  /** How many of these have a priority. */
  readonly prioritized: number
  /** Delayed jobs whose time has come, but which no worker has fetched yet. */
  readonly due: number
  readonly paused: boolean
  /**
   * How long the oldest of them could have been fetched already: since it was added, or since the end of its delay. Null
   * for an empty backlog.
   */
  readonly oldestWaitMs: number | null
}

/** The waiting jobs of a queue. */
export interface QueueDepth {
  jobs: number
  /** As stored, estimated from the sizes of the oldest and the newest jobs. */
  bytes: number
}

export interface BullSetup {
  /** Adds jobs, whose data are payloads as text. */
  Queue: typeof TextQueue
  factory: BackendFactory
  connection: ConnectionOptions
}

/** Facts about the server that `heddle doctor` prints. */
export interface QueueFacts {
  server: 'Redis' | 'Postgres'
  version: string
  latencyMs: number
  /** Connections that this process opens to the server at most; null for Redis, where they are cheap. */
  connectionsPerProcess: number | null
  connectionsMax: number | null
  /** Problems of the server's settings. */
  warnings: QueueWarning[]
}

export interface QueueWarning {
  readonly what: string
  /** The step that solves it. */
  readonly hint: string
}
