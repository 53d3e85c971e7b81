import type { AccessRole, ApiKey, ErasureResult, NewApiKey, OfferedGrant, StageName } from '@heddle/contracts'
import type { Page } from './pages.js'

export interface DeadLetterSelection {
  /** One stage only. */
  readonly stage?: StageName
  /** Dead letters that one call handles: 1 to 1,000,000, over HTTP to 500. Default 100. */
  readonly limit?: number
  /** Leaves those out that name no project, and may be of any. Default false; over HTTP always true. */
  readonly ownOnly?: boolean
}

export interface EraseOptions {
  /**
   * False: answers once nothing of it is shown and nothing is taken for it any more. What is stored of it is removed
   * meanwhile, by this process or by the next worker. Default true.
   */
  readonly wait?: boolean
  /**
   * Frees the name once nothing is left, also of what was erased before: whoever writes to it then begins something new.
   * Messages that were erased are refused there, and so is what was sent before the erasure. Not for projects. Default
   * false: the name is refused as long as the tombstone is kept.
   */
  readonly reuse?: boolean
  /** Stops between two steps; what is left is removed by a worker, or by the next call. */
  readonly signal?: AbortSignal
}

export interface ProjectsClient {
  /** Erases the client's own project for good, with everything in it. */
  delete(options?: Omit<EraseOptions, 'reuse'>): Promise<ErasureResult>
}

export interface KeysClient {
  create(key: { readonly name: string; readonly role: AccessRole }): Promise<NewApiKey>
  list(): Promise<Page<ApiKey>>
  revoke(id: string): Promise<ApiKey>
}

export interface GrantsClient {
  offer(to: string): Promise<void>
  accept(from: string): Promise<void>
  revoke(sides: { readonly to: string } | { readonly from: string }): Promise<void>
  list(): Promise<Page<OfferedGrant>>
}
