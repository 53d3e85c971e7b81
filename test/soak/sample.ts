/** What one process holds, and how late its event loop was since the last sample. */
export interface ProcessSample {
  /** `up`, `gateway`, or the stage of a worker. */
  readonly name: string
  readonly residentBytes: number
  /** Of its main thread. */
  readonly heapUsedBytes: number
  readonly externalBytes: number
  /** In milliseconds, beyond the pause between two looks. */
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
  /** Rows that queries have fetched of it since it was made, whether or not they were of use. */
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

/** How long the operations of a kind took that ended since the last sample, in milliseconds. */
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
  /** Operations that were not begun since too many were under way: the rate was too high for the machine. */
  readonly skipped: number
  readonly processes: readonly ProcessSample[]
  readonly database: DatabaseSample
  readonly operations: readonly OperationSample[]
}
