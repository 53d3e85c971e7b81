import { limits } from '@heddle/contracts'

/** Every wait and size of this package, with its reason (docs/design.md#invariant-10). Stages have theirs in the catalog. */
export const bounds = {
  /** A producer's call fails after this long if the server is down, so that work does not pile up in memory. */
  producerWaitMs: 4_000,
  /** For this long an add is retried while the server is down. */
  addRetryMs: 2_000,
  /** One attempt to connect: a server in the same network answers within milliseconds. */
  connectMs: 3_000,
  /**
   * The time in which workers must become ready on a server that has just answered. On a machine where a pool of processes
   * starts at once each takes seconds, which does not mean that the server is down.
   */
  workersReadyMs: 30_000,
  /** From an attempt to connect to Redis's first answer: a server that accepts the connection and never answers is abandoned. */
  firstAnswerMs: 6_000,
  /** A Redis that does not answer a command for this long is abandoned. BullMQ's commands that wait for jobs take up to 10 s. */
  silentMs: 12_000,
  /** The longest pause between two attempts to reconnect, so that work resumes soon after the server does. */
  reconnectMsMax: 2_000,
  /**
   * A lock expires this long after its last renewal, whatever a stage's `lockMs` allows. With the check for orphans below, a
   * job of a killed worker is processed again after at most `lockMsMax + 2 * stalledEveryMs` = 25 s. Locks are renewed
   * each quarter of this time, so a handler may block its event loop for about 7 s; after that the job runs twice, which
   * every stage must tolerate anyway.
   */
  lockMsMax: 15_000,
  /** How often workers check for orphaned jobs. */
  stalledEveryMs: 5_000,
  /**
   * An idle worker polls the server for jobs at least this often, in seconds. With a delayed job in the queue BullMQ's
   * Postgres backend would wait up to 3,600 s and rely on its listening connection (taskforcesh/bullmq#4601).
   */
  blockSecondsMax: 5,
  /** A worker that cannot fetch or finish a job retries after this long; BullMQ's default is 15 s. */
  runRetryMs: 1_000,
  /** A job waits at most this long for its next attempt, whatever `retryAfter` says. */
  retryAfterMsMax: 900_000,
  /** A job or lock that is due later than this was written with a wrong clock, because no wait is this long. */
  dueMsMax: 1_800_000,
  /** A table of jobs is written anew if it is larger than this for each of its parts (rows, indexes), in bytes: three pages, */
  shrinkBytesMin: 24_576,
  /** and has no more rows than this: it is locked meanwhile, for some milliseconds. */
  shrinkRowsMax: 200,
  /** Jobs in one round trip. */
  batchJobsMax: 256,
  /** Characters of payload in one round trip; a larger job is sent by itself. */
  batchCharactersMax: 8_000_000,
  /** Characters of payload that are added in one round trip: workers begin with the first jobs while the others are sent. */
  addCharactersMax: 1_000_000,
  /** After a pass over this many characters of payload, which takes some ten milliseconds, the event loop gets a pause. */
  pauseCharacters: 1_000_000,
  /** Concurrent round trips of one stage. */
  batchesMax: 4,
  /** Concurrent statements of one worker that finish jobs and fetch the next ones; each covers all slots that are ready. */
  exchangesAtOnceMax: 2,
  /** Characters of one job's payload. */
  payloadCharactersMax: limits.jobJsonCharactersMax,
  /** Postgres refuses notifications of 8,000 bytes. */
  messageBytesMax: 7_500,
  /** Bytes of an answer in a notification, beside the rest of its reply: the differences of a context, or a small one. */
  answerInMessageBytesMax: 7_300,
  /** Bytes of an answer as written into its reply. Larger ones are read from the store. */
  answerBytesMax: limits.answerBytesMax,
  /** The same for an answer that does not leave the process. */
  answerWithinProcessBytesMax: 1_000_000,
  /**
   * Answers within replies that a process expects at once. Together they are at most 16 MB: Redis disconnects a subscriber
   * at once with 32 MB unread, and with 8 MB unread for a minute. Further callers read their answers from the store.
   */
  answersAtOnceMax: 64,
  /** Default time in which a worker must stop gracefully. */
  closeMs: 10_000,
  /** After that, the time in which handlers may obey their abort signal and release their jobs. */
  abortGraceMs: 1_000,
  /** Lifecycle events that BullMQ keeps for each queue. They are not used, but cannot be turned off. */
  lifecycleEventsMax: 100,
  /** How often the listening connection to Postgres is tested: it sends nothing, so it would not notice that it is dead. */
  heartbeatMs: 15_000,
  /** Default limit of waiting ingest jobs: those of a busy minute while the store is down. */
  ingestJobsMax: 100_000,
  /** Default limit of waiting bytes in ingest: the amount that a small server can spare. */
  ingestBytesMax: 256 * 1_024 * 1_024,
  /** How long the depth of a queue is cached, so that most appends need no round trip for it. */
  depthKnownMs: 250,
  /** Polls of a deep queue take at most this share of the time, however long one of them takes. */
  depthPollShareMax: 0.05,
  /** Jobs at each end of a queue from whose sizes the others are estimated. */
  depthSample: 8,
  /** Jobs at the head of a queue among which the oldest is looked for: a retried job keeps its place on Postgres. */
  backlogSample: 16,
  /** Priorities of a queue whose oldest jobs are looked for. Heddle itself uses no priorities. */
  backlogPrioritiesMax: 16,
  /** `retryAfter` of a refused producer, in seconds. */
  busyRetryAfterSeconds: 1,
  /**
   * The open jobs and bytes that a project may have for each worker of a stage while other projects have open jobs, too:
   * fewer jobs than a worker processes at once (`stages` of contracts), so that it has capacity for other projects; the numbers
   * were measured (docs/decisions/2026-11-22-a-project-has-its-share.md). Messages cost by number and length: the bytes of
   * ingest are those of 16 appends of a usual turn, or of one append of some hundred short messages.
   */
  shareOfWorker: {
    ingest: { jobs: 16, bytes: 256 * 1_024 },
    assemble: { jobs: 6, bytes: 16 * 1_024 * 1_024 },
  },
  /** A project whose last job is older than this no longer limits the shares of others. */
  neighbourMs: 5_000,
  /** How often a process reports the open jobs of its projects to the others. */
  loadReportEveryMs: 250,
  /** How often a process with workers reports their load to the others, and the time over which it averages their rate. */
  poolReportEveryMs: 1_000,
  poolRateMs: 10_000,
  /** A process that has just started waits this long for the reports of other workers. */
  poolAnswerMs: 300,
  /** Models whose calls a process counts, the first that it called: each is a time series of its own in Prometheus. */
  poolModelsMax: 20,
  /** Characters of a model's name in these counts. */
  poolModelCharactersMax: 100,
  /** Processes whose counts are kept, including dead ones. */
  poolProcessesMax: 1_000,
  /** The reports of a process expire this long after the last one. */
  loadKnownMs: 3_000,
  /** Projects in one load report: as many as a notification holds. */
  loadCountsMax: 40,
  /** A job without a reply for this long is no longer counted, because its reply was lost. */
  underWayMsMax: 60_000,
  /** Waiting jobs per page of a scan for removal: each may hold megabytes of messages. */
  removalPageJobs: 20,
  /** How often all waiting jobs are scanned while jobs to remove keep turning up. */
  removalRoundsMax: 10,
  /** Wake-ups that a run of the reconciler sends at once. */
  reconcileBatch: 64,
} as const
