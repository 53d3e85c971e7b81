import {
  type ContextRequest,
  type ContextResult,
  limits,
  type PartialSettings,
  type SettingLayer,
  validationError,
} from '@heddle/contracts'
import type { Queues } from '@heddle/queue'
import type { Clock, Logger } from '@heddle/runtime'
import type { QueryEmbedder, Store } from '@heddle/store'
import type { KnownContexts } from '../contexts/known-contexts.js'
import type { DirectAppends } from '../messages/direct-appends.js'
import type { Ordinals } from '../messages/ordinals.js'
import type { SearchReranker } from '../recall/search-reranker.js'
import type { LikelyPrepared } from './likely-prepared.js'

/**
 * Builds contexts that are not stored. Building belongs to a stage, so the program that opens the client provides it.
 *
 * @throws PermanentError as a build; `PAYLOAD_TOO_LARGE` if the input is too large for this process
 */
export type Previewer = (
  request: ContextRequest,
  how: { readonly projectId: string; readonly deadlineMs: number },
) => Promise<Omit<ContextResult, 'id'>>

export interface ClientOptions {
  readonly store: Store
  /** Null for a client that only reads and changes what is stored: an operation that needs queues throws a TypeError. */
  readonly queues: Queues | null
  /** The name of the project. Default `default`. */
  readonly project?: string
  /** Settings of the file and the environment, under those of agents. */
  readonly settings?: PartialSettings
  /** The same by source, in ascending precedence. Default: one source, `configuration`. */
  readonly settingLayers?: readonly SettingLayer[]
  /** The folder of snapshot files, for a program that shares it with the workers: an erasure then removes them at once. */
  readonly snapshotsFolder?: string
  readonly log?: Logger
  readonly clock?: Clock
  /**
   * Returns the embedder for queries, which must be that of the embed stage, because only vectors of one model are comparable.
   * Called with the first search; without it, searches use only words, and report it.
   */
  readonly embedder?: QueryEmbedder
  /** Orders the first results of searches again; without it, they keep the order of words and vectors. */
  readonly reranker?: SearchReranker | null
  /**
   * Commits appends in this process for callers that wait until they are stored; shared by all clients of a process.
   * Without it, workers commit them.
   */
  readonly directAppends?: DirectAppends | null
  /** The last contexts that this process received; shared by all of its clients. Default: the client's own. */
  readonly knownContexts?: KnownContexts
  /** Without it, requests for contexts that are not stored are refused. */
  readonly previewer?: Previewer | null
}

/** The state shared by the parts of a client. */
export interface EngineContext {
  readonly store: Store
  readonly queues: Queues
  readonly project: string
  readonly projectId: string
  readonly settings: PartialSettings
  readonly settingLayers: readonly SettingLayer[]
  readonly snapshotsFolder: string | null
  readonly log: Logger | undefined
  readonly clock: Clock
  readonly ordinals: Ordinals
  readonly likelyPrepared: LikelyPrepared
  readonly embedder: QueryEmbedder | null
  readonly reranker: SearchReranker | null
  readonly directAppends: DirectAppends | null
  readonly knownContexts: KnownContexts
  readonly previewer: Previewer | null
  /**
   * Stores the name of the project once, for readable references: messages contain only its id.
   *
   * @returns null once it is stored
   */
  ensureProjectName(): Promise<void> | null
}

export function checkPageLimit(limit: number): void {
  if (Number.isInteger(limit) && limit >= 1 && limit <= limits.pageItemsMax) return
  throw validationError('limit', `must be a whole number from 1 to ${limits.pageItemsMax}`, limit)
}
