import type { LogLevel } from '@heddle/runtime'
import type { Addresses } from './servers.js'

/** What every process of a run is told first. */
export interface Place extends Addresses {
  /** Of the queues. */
  readonly prefix: string
  readonly seed: number
}

export const PROJECT = 'chaos'

/** Of a worker that could not start because a server is away: whoever watches over it starts it again. */
export const SERVER_AWAY_EXIT_CODE = 75

/** Outages are what a run is made of: nobody wants to read of them, unless something is to be found out. */
export const logLevel = (process.env['HEDDLE_CHAOS_LOG'] ?? 'silent') as LogLevel
