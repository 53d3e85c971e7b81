import type { ContextResult } from '@heddle/contracts'
import type { PageOptions } from './pages.js'

export interface BuildOptions {
  /** How long to wait for the context, in milliseconds. */
  readonly deadlineMs?: number
  readonly signal?: AbortSignal
  /**
   * If the project's share of contexts is in use and others wait: `wait` until the deadline, or `fail` with
   * `RATE_LIMITED` before anything is requested. Default `wait`.
   */
  readonly onBusy?: 'wait' | 'fail'
}

/** A moment of a thread. */
export interface MomentOptions {
  readonly thread: string
  /** A past ISO 8601 time with a zone. */
  readonly at: string
}

export interface ContextListOptions extends PageOptions {
  readonly thread: string
}

export type RequestedContext =
  | { readonly id: string; readonly status: 'requested' }
  | { readonly id: string; readonly status: 'built'; readonly context: ContextResult }

export interface GetOptions {
  /** Whether to rebuild it from stored data, even if the delivered bytes are still cached. */
  readonly rebuild?: boolean
}
