import type { ContextResult } from '@heddle/contracts'
import type { PageOptions } from './pages.js'

export interface BuildOptions {
  /** How long to wait for the context, in milliseconds. */
  readonly deadlineMs?: number
  readonly signal?: AbortSignal
  /**
   * While the project has its share of contexts under way and others wait for theirs: `wait` until the deadline, or `fail`
   * with `RATE_LIMITED` before anything is asked for. Default `wait`.
   */
  readonly onBusy?: 'wait' | 'fail'
}

/** A moment of a thread. */
export interface MomentOptions {
  readonly thread: string
  /** An ISO 8601 time with a zone, which has passed. */
  readonly at: string
}

export interface ContextListOptions extends PageOptions {
  readonly thread: string
}

/** A context that was asked for, as far as it has come. */
export type RequestedContext =
  | { readonly id: string; readonly status: 'requested' }
  | { readonly id: string; readonly status: 'built'; readonly context: ContextResult }

export interface GetOptions {
  /** Whether to make it again of what is stored, also where the delivered bytes are still kept. */
  readonly rebuild?: boolean
}
