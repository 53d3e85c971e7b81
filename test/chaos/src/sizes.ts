/** The amount of messages and faults of a run. */
export interface Size {
  /** Rounds of growth and compaction over all strategies, in memory. */
  readonly coreRounds: number
  readonly messages: number
  readonly threads: number
  /** Minimum duration of the producers, in milliseconds, so that all faults fall into it; a busy machine takes longer. */
  readonly producingMsMin: number
  /** Interval between kills of a worker, in milliseconds. */
  readonly killEveryMs: number
  readonly redisKills: number
  readonly postgresRestarts: number
  /** Number of workers frozen for a moment, and for longer than the lock of a job. */
  readonly shortPauses: number
  readonly longPauses: number
  /** Number of times that every connection to a server is dropped, or no longer answered. */
  readonly cuts: number
  readonly silences: number
  /** Number of times that all workers die and every queue loses everything, besides the one at the end. */
  readonly emptiedQueues: number
  /** Number of times that every waiting job is removed, and that the event logs lose everything. */
  readonly jobRemovals: number
  readonly eventTrims: number
  /** Awaited contexts. */
  readonly contexts: number
  readonly contextDeadlineMsMin: number
  readonly contextDeadlineMsMax: number
  /** Of an append; its producer repeats it after that. */
  readonly appendDeadlineMs: number
  /** Time between the requests of contexts, in milliseconds; null: at shares of the acknowledged messages. */
  readonly contextsEveryMs: number | null
  /** Interval of the reconciler, in milliseconds; null for the default of a worker. */
  readonly reconcileEveryMs: number | null
  /** After the last fault, in seconds. */
  readonly drainSecondsMax: number
}

/** The faults that docs/design.md#invariant-1 promises to survive. */
export const fullSize: Size = {
  coreRounds: 100_000,
  messages: 100_000,
  threads: 1_000,
  producingMsMin: 150_000,
  killEveryMs: 2_000,
  redisKills: 10,
  postgresRestarts: 5,
  shortPauses: 8,
  longPauses: 4,
  cuts: 8,
  silences: 2,
  emptiedQueues: 1,
  jobRemovals: 5,
  eventTrims: 5,
  contexts: 400,
  contextDeadlineMsMin: 1_000,
  contextDeadlineMsMax: 20_000,
  // Long, since a repeated append sends its job again.
  appendDeadlineMs: 120_000,
  contextsEveryMs: null,
  reconcileEveryMs: null,
  drainSecondsMax: 120,
}

/** For runs of only the waits for contexts: enough to detect one failure in ten thousand. */
export const awaitSize: Size = { ...fullSize, messages: 20_000, threads: 200, contexts: 10_000 }

/** For every change: under a minute and a half. */
export const shortSize: Size = {
  ...fullSize,
  coreRounds: 5_000,
  messages: 10_000,
  threads: 200,
  producingMsMin: 15_000,
  redisKills: 2,
  postgresRestarts: 1,
  shortPauses: 2,
  longPauses: 1,
  cuts: 2,
  silences: 1,
  emptiedQueues: 0,
  jobRemovals: 1,
  eventTrims: 1,
  contexts: 150,
  contextDeadlineMsMax: 8_000,
  reconcileEveryMs: 2_000,
}

const CLUSTER_MESSAGES_PER_SECOND = 40
const CLUSTER_CONTEXTS_EVERY_MS = 250

/** For a cluster on one machine, whose faults come one by one for this time. */
export function clusterSize(minutes: number): Size {
  const producingMsMin = minutes * 60_000
  return {
    ...fullSize,
    messages: (producingMsMin / 1_000) * CLUSTER_MESSAGES_PER_SECOND,
    // Few, so that soon each of them exists and has contexts.
    threads: 60,
    producingMsMin,
    contexts: producingMsMin / CLUSTER_CONTEXTS_EVERY_MS,
    contextsEveryMs: CLUSTER_CONTEXTS_EVERY_MS,
  }
}

/** The rate of messages and contexts during a rolling upgrade, low enough for two cores that run both versions. */
const ROLLING_MESSAGES_PER_SECOND = 10
const ROLLING_CONTEXTS_EVERY_MS = 1_000
/** The users work until the last service is replaced, at most this long. */
const ROLLING_MS_MAX = 2 * 60 * 60_000
/** The default of the SDK. */
const SDK_DEADLINE_MS = 30_000

export const rollingSize: Size = {
  ...fullSize,
  messages: (ROLLING_MS_MAX / 1_000) * ROLLING_MESSAGES_PER_SECOND,
  // Few, so that soon each of them exists and has contexts.
  threads: 24,
  producingMsMin: ROLLING_MS_MAX,
  contexts: ROLLING_MS_MAX / ROLLING_CONTEXTS_EVERY_MS,
  contextsEveryMs: ROLLING_CONTEXTS_EVERY_MS,
  contextDeadlineMsMin: SDK_DEADLINE_MS,
  contextDeadlineMsMax: SDK_DEADLINE_MS,
  appendDeadlineMs: SDK_DEADLINE_MS,
}

/** To show that the harness detects each sabotage. */
export const proofSize: Size = {
  ...shortSize,
  messages: 2_000,
  threads: 40,
  producingMsMin: 5_000,
  redisKills: 1,
  shortPauses: 1,
  longPauses: 0,
  cuts: 1,
  silences: 0,
  contexts: 20,
  contextDeadlineMsMax: 4_000,
  drainSecondsMax: 45,
}
