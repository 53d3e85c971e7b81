import type { AppendResult, ContextRequest, ContextResult } from '@heddle/contracts'
import type { FormEntries } from '../forms/entries.js'
import type { FormName } from '../forms/index.js'
import type { NewMessage } from './messages.js'
import type { PageOptions } from './pages.js'

/** A request for a context, which may append messages to the thread first. With `append` it names the `agent`. */
export type BuildRequest = ContextRequest & TurnMessages

type TurnMessages =
  | { readonly append?: undefined; readonly appendFormat?: undefined }
  | { readonly append: readonly NewMessage[]; readonly appendFormat?: 'neutral' }
  | {
      /** The format of the messages in `append`, as of a provider's package; `format` is that of the context. */
      [Form in FormName]: { readonly append: readonly FormEntries[Form][]; readonly appendFormat: Form }
    }[FormName]

/** The result of appending the messages of a request with `append`. */
export interface WithAppended {
  readonly appended?: AppendResult
}

export interface BuildOptions {
  /** How long to wait for the context, in milliseconds. */
  readonly deadlineMs?: number
  readonly signal?: AbortSignal
  /**
   * If the project's share of contexts is in use and others wait: `wait` until the deadline, or `fail` with
   * `RATE_LIMITED` before anything is requested. Default `wait`.
   */
  readonly onBusy?: 'wait' | 'fail'
  /**
   * A request repeated with this key appends its messages once, and gets the same context while that is kept. Default:
   * none; messages with ids are stored once in any case.
   */
  readonly idempotencyKey?: string | undefined
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
