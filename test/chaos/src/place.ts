import type { LogLevel } from '@heddle/runtime'
import type { Addresses } from './servers.js'

/** The first message to every process of a run. */
export interface Place extends Addresses {
  /** Of the queues. */
  readonly prefix: string
  readonly seed: number
}

export const PROJECT = 'chaos'

/** Exit code of a worker that could not start because a server is down: its supervisor restarts it. */
export const SERVER_AWAY_EXIT_CODE = 75

/** A run consists of outages, so their log lines are hidden, unless a cause has to be found. */
export const logLevel = (process.env['HEDDLE_CHAOS_LOG'] ?? 'silent') as LogLevel
