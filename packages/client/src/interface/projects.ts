import type { ApiKey, ErasureResult, KeyBody, KeyChange, NewApiKey, OfferedGrant, StageName } from '@heddle/contracts'
import type { Page } from './pages.js'

export interface DeadLetterSelection {
  /** Only this stage. */
  readonly stage?: StageName
  /** Only the dead letter with this id. */
  readonly id?: string
  /** Dead letters that one call handles: 1 to 1,000,000, over HTTP to 500. Default 100. */
  readonly limit?: number
  /** Leaves out those that name no project, which may belong to any. Default false; over HTTP always true. */
  readonly ownOnly?: boolean
}

export interface EraseOptions {
  /**
   * False: answers once it is hidden and accepts no data any more. Stored rows are removed afterwards, by this process
   * or by the next worker. Default true.
   */
  readonly wait?: boolean
  /**
   * Frees the name once everything is removed, also for earlier erasures: the next write creates something new. Erased
   * messages are refused there, and so is anything sent before the erasure. Not for projects. Default false: the name
   * is refused as long as the tombstone is stored.
   */
  readonly reuse?: boolean
  /** Stops between two steps; the rest is removed by a worker, or by the next call. */
  readonly signal?: AbortSignal
}

export interface ProjectsClient {
  /** Permanently erases the client's own project, with everything in it. */
  delete(options?: Omit<EraseOptions, 'reuse'>): Promise<ErasureResult>
}

export interface KeysClient {
  create(key: KeyBody): Promise<NewApiKey>
  list(): Promise<Page<ApiKey>>
  /** Changes the mode of the proxy for requests with the key; null leaves it to the agent and the configuration. */
  update(id: string, change: KeyChange): Promise<ApiKey>
  revoke(id: string): Promise<ApiKey>
}

export interface GrantsClient {
  offer(to: string): Promise<void>
  accept(from: string): Promise<void>
  revoke(sides: { readonly to: string } | { readonly from: string }): Promise<void>
  list(): Promise<Page<OfferedGrant>>
}
