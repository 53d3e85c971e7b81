/** The memory of one process, and the delay of its event loop since the last sample. */
export interface ProcessSample {
  /** `up`, `gateway`, or the stage of a worker. */
  readonly name: string
  readonly residentBytes: number
  /** Of its main thread. */
  readonly heapUsedBytes: number
  readonly externalBytes: number
  /** In milliseconds, beyond the sampling interval. */
  readonly loopDelayP50Ms: number
  readonly loopDelayP99Ms: number
  readonly loopDelayMaxMs: number
  readonly cpuSeconds: number
}

export interface TableSample {
  readonly table: string
  /** With its indexes and its TOAST table. */
  readonly bytes: number
  readonly liveRows: number
  readonly deadRows: number
  /** Rows that queries have fetched from it since its creation, used or not. */
  readonly rowsRead: number
}

export interface DatabaseSample {
  readonly bytes: number
  readonly connections: number
  readonly messages: number
  readonly contexts: number
  /** The largest first. */
  readonly tables: readonly TableSample[]
}

/** Durations of the operations of a kind that ended since the last sample, in milliseconds. */
export interface OperationSample {
  readonly operation: string
  readonly count: number
  readonly failed: number
  readonly p50Ms: number
  readonly p95Ms: number
  readonly p99Ms: number
}

/** One minute. */
export interface Sample {
  readonly minute: number
  readonly threads: number
  /** Operations that were skipped because too many were running: the rate was too high for the machine. */
  readonly skipped: number
  readonly processes: readonly ProcessSample[]
  readonly database: DatabaseSample
  readonly operations: readonly OperationSample[]
}
