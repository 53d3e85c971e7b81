/** How much is sent, and what happens meanwhile. */
export interface Size {
  /** Rounds of growth and compaction over all strategies, in memory. */
  readonly coreRounds: number
  readonly messages: number
  readonly threads: number
  /** Producers take at least so long, in milliseconds, so that all faults fall into their time; a busy machine takes longer. */
  readonly producingMsMin: number
  /** A worker is killed so often, in milliseconds. */
  readonly killEveryMs: number
  readonly redisKills: number
  readonly postgresRestarts: number
  /** Workers that are frozen for a moment, and for longer than a lock of their jobs lasts. */
  readonly shortPauses: number
  readonly longPauses: number
  /** Times at which every connection to a server is cut, or answers no more. */
  readonly cuts: number
  readonly silences: number
  /** Times at which all workers die and every queue loses everything, besides the one at the end. */
  readonly emptiedQueues: number
  /** Times at which every waiting job is removed, and at which the logs of events lose all that they hold. */
  readonly jobRemovals: number
  readonly eventTrims: number
  /** Awaited contexts. */
  readonly contexts: number
  readonly contextDeadlineMsMax: number
  /** Of the reconciler, in milliseconds; null for what a worker does unless it is told otherwise. */
  readonly reconcileEveryMs: number | null
  /** After the last fault, in seconds. */
  readonly drainSecondsMax: number
}

/** What docs/design.md#invariant-1 promises to survive. */
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
  contextDeadlineMsMax: 20_000,
  reconcileEveryMs: null,
  drainSecondsMax: 120,
}

/** Where only the waits for contexts are wanted: so many that one in ten thousand is noticed. */
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

/** To show that the harness notices what it is there to notice. */
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
