import type { BackendFactory, ConnectionOptions, Queue } from 'bullmq'
import type { Channels } from '../reply/channels.js'
import type { BullQueue } from './bull-queue.js'

/** The server of one `Queues`: everything that differs between Redis and Postgres. */
export interface Backend {
  readonly server: 'Redis' | 'Postgres'
  readonly channels: Channels
  /** Whether the prefix was made by who may: a worker, or `heddle migrate`. */
  isKnown(): Promise<boolean>
  /** Other prefixes that were, the first in the order of letters. */
  otherPrefixes(): Promise<readonly string[]>
  /** How BullMQ's queues and workers reach the server. */
  producers(): BullSetup
  workers(): Promise<BullSetup>
  facts(): Promise<QueueFacts>
  /** Rejects while the server does not take writes: with what is wrong, and what to do. */
  probe(): Promise<void>
  /**
   * When the job was added that is next in a queue; null if none waits. BullMQ would fetch the whole job, and its Postgres
   * backend the newest one.
   */
  oldestWaitingAtMs(queue: string): Promise<number | null>
  /** Who holds each of some keys against double wakes; those that nobody holds are left out. */
  keyHolders(queue: BullQueue, keys: readonly string[]): Promise<ReadonlyMap<string, KeyHolder>>
  /** What waits in a queue. Jobs are counted up to `jobsMax` and a little more. */
  depth(queue: string, jobsMax: number): Promise<QueueDepth>
  /** Drops every connection; waits for nothing that a dead server could withhold. */
  close(): Promise<void>
  /** Removes everything that was kept under the prefix. */
  destroy(): Promise<void>
}

/** The job in whose name others of the same thread are held back. */
export interface KeyHolder {
  readonly jobId: string
  /** As BullMQ names it; `unknown` for a job that is gone. */
  readonly state: string
}

/** What waits in a queue. */
export interface QueueDepth {
  jobs: number
  /** As they lie there, estimated from the sizes of the oldest and the newest. */
  bytes: number
}

export interface BullSetup {
  /** Adds jobs, whose data are payloads as text. */
  Queue: typeof Queue
  factory: BackendFactory
  connection: ConnectionOptions
}

/** What `heddle doctor` wants to know about the server. */
export interface QueueFacts {
  server: 'Redis' | 'Postgres'
  version: string
  latencyMs: number
  /** Connections that this process opens to the server at most; null for Redis, where they are cheap. */
  connectionsPerProcess: number | null
  connectionsMax: number | null
  /** What is wrong with the server's settings. */
  warnings: QueueWarning[]
}

export interface QueueWarning {
  readonly what: string
  /** What to do about it. */
  readonly hint: string
}
