import { limits } from '@heddle/contracts'

/** Every wait and size of this package, with its reason (docs/design.md#invariant-10). Stages have theirs in the catalog. */
export const bounds = {
  /** A producer learns after this long that the server is away; it must not queue up work in memory meanwhile. */
  producerWaitMs: 4_000,
  /** Within it, an add is tried again while the server is away. */
  addRetryMs: 2_000,
  /** One try to connect: a server in the same network answers within milliseconds. */
  connectMs: 3_000,
  /**
   * Workers wait so long to become ready, on connections to a server that has just answered: a machine on which a pool of
   * processes starts at once takes seconds for each, and that is no server that is away.
   */
  workersReadyMs: 30_000,
  /** From a try to connect to Redis's first word: what accepts a connection and stays silent is given up. */
  firstAnswerMs: 6_000,
  /** The longest pause between two tries to reconnect, so that everything is back soon after the server is. */
  reconnectMsMax: 2_000,
  /**
   * A lock lasts this long without a sign of life, whatever a stage's `lockMs` allows. With the check for orphans below, a
   * job of a killed worker is taken up again after at most `lockMsMax + 2 * stalledEveryMs` = 25 s. Locks are renewed
   * each quarter of this time, so a handler may block its event loop for about 7 s; past that the job runs twice, which
   * every stage must bear anyway.
   */
  lockMsMax: 15_000,
  /** How often workers look for orphaned jobs. */
  stalledEveryMs: 5_000,
  /**
   * An idle worker asks the server for jobs at least this often, in seconds. BullMQ's Postgres backend would wait up to
   * 3,600 s beside a delayed job and trust that the connection it listens on is alive (taskforcesh/bullmq#4601).
   */
  blockSecondsMax: 5,
  /** A worker that cannot fetch or finish a job tries again after this long; BullMQ's 15 s is a long time to be idle. */
  runRetryMs: 1_000,
  /** A job waits at most this long for its next try, whatever `retryAfter` asks for. */
  retryAfterMsMax: 900_000,
  /** Who finds a job or lock due later than this has it from a clock that was wrong: no wait is as long. */
  dueMsMax: 1_800_000,
  /** Jobs in one round trip. */
  batchJobsMax: 256,
  /** Characters of payload in one round trip; a larger job travels alone. */
  batchCharactersMax: 8_000_000,
  /** Characters of payload that are added in one round trip: workers begin with what is there while the rest is on its way. */
  addCharactersMax: 1_000_000,
  /** Characters of payload from which a pass over them, of some ten milliseconds, ends with a pause for the event loop. */
  pauseCharacters: 1_000_000,
  /** Round trips of one stage under way at once. */
  batchesMax: 4,
  /** Statements of one worker under way at once, of those that finish its jobs and take the next: each does it for all at hand. */
  turnsAtOnceMax: 2,
  /** Characters of one job's payload. */
  payloadCharactersMax: limits.jobJsonCharactersMax,
  /** Postgres refuses notifications of 8,000 bytes. */
  messageBytesMax: 7_500,
  /** An answer that goes along with a reply, as it is written into it. Larger ones are read from the store. */
  answerBytesMax: limits.answerBytesMax,
  /**
   * Answers that a process takes with its replies at once: all of them together are less than the 8 MB beyond which Redis
   * drops a subscriber that is slow to read. Who asks for more meanwhile reads them from the store.
   */
  answersAtOnceMax: 64,
  /** How long a worker may take to stop in good order, unless its owner says otherwise. */
  closeMs: 10_000,
  /** After that, the time in which handlers may heed their abort signal and hand their jobs back. */
  abortGraceMs: 1_000,
  /** Lifecycle events that BullMQ keeps for each queue. Nobody reads them; BullMQ cannot do without. */
  lifecycleEventsMax: 100,
  /** Time between two looks at a Postgres connection that only listens, and so would not notice its death. */
  heartbeatMs: 15_000,
  /** Jobs that may wait for ingest, unless the configuration says otherwise: what a busy minute brings while the store is away. */
  ingestJobsMax: 100_000,
  /** Bytes that may wait for ingest, likewise: what a small server can spare. */
  ingestBytesMax: 256 * 1_024 * 1_024,
  /** The depth of a queue is known this long before it is looked at again: an append costs no round trip for it. */
  depthKnownMs: 250,
  /** Looks at a deep queue take at most this share of the time, however long one takes. */
  depthLookShareMax: 0.05,
  /** Jobs at each end of a queue whose sizes stand for those of the others. */
  depthSample: 8,
  /** When a producer that was refused is asked to try again, in seconds. */
  busyRetryAfterSeconds: 1,
  /**
   * What a project may have under way for each worker of a stage while other projects have something under way, too: about
   * what a worker has in its hands at once when it is busy, so that nobody waits behind much more than that. Messages cost
   * by their number and length: the bytes are what 16 appends of a usual turn have, or one of some hundred short messages.
   */
  shareOfWorker: {
    ingest: { jobs: 16, bytes: 256 * 1_024 },
    assemble: { jobs: 6, bytes: 16 * 1_024 * 1_024 },
  },
  /** A project whose last job was seen so long ago is nobody's neighbour any more. */
  neighbourMs: 5_000,
  /** How often a process tells the others what its projects have under way. */
  loadToldEveryMs: 250,
  /** How often a process with workers reports their load to the others, and the time over which it averages their rate. */
  poolToldEveryMs: 1_000,
  poolRateMs: 10_000,
  /** A process that has just started waits this long for the reports of other workers. */
  poolAnswerMs: 300,
  /** Models whose calls a process counts, the first that it called: each is a series of its own to Prometheus. */
  poolModelsMax: 20,
  /** Characters of a model's name there. */
  poolModelCharactersMax: 100,
  /** Processes whose work is remembered, the dead ones too. */
  poolProcessesMax: 1_000,
  /** What a process has told is forgotten after this long without another word. */
  loadKnownMs: 3_000,
  /** Projects in one word: as many as a notification holds. */
  loadCountsMax: 40,
  /** A job of which no word came for so long does not count any more: its reply was lost. */
  underWayMsMax: 60_000,
  /** Waiting jobs that are looked at together when some are to be removed: each may hold megabytes of messages. */
  removalPageJobs: 20,
  /** How often all waiting jobs are looked through, while jobs that are to be removed keep turning up. */
  removalRoundsMax: 10,
  /** Wake-ups that one look of the reconciler has under way at once. */
  reconcileBatch: 64,
} as const
