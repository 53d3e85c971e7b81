import type { Client } from '@heddle/client/interface'
import type { ProxyMode, ProxyModeSource, StoredEpoch } from '@heddle/contracts'
import type { Protocol, RecordedText, RequestDelta } from '@heddle/core'

/** The figures of a request that was relayed; see the table `proxied_requests`. */
export interface RelayedRequest {
  readonly id: string
  readonly threadId: string
  readonly thread: string
  readonly upstream: string
  readonly protocol: Protocol
  readonly model: string
  /** The mode that was asked for, however the request was sent. */
  readonly mode: ProxyMode
  readonly modeSource: ProxyModeSource
  readonly isControl: boolean
  readonly epoch: number
  readonly reasons: readonly string[]
  readonly passed: string | null
  readonly entries: number
  readonly stubs: number
  readonly coveredEntries: number
  readonly tokensReceived: number
  readonly tokensSent: number
  readonly tokensCached: number
  readonly inputTokens: number | null
  readonly cacheReadTokens: number | null
  readonly cacheWriteTokens: number | null
  readonly outputTokens: number | null
  readonly costUsd: number | null
  readonly directCostUsd: number | null
  readonly recalls: number
  /** Part of `costUsd`. */
  readonly recallCostUsd: number | null
  readonly status: number
  readonly addedMs: number
  readonly firstByteMs: number | null
}

/** How the state of a conversation is found: see `loadProxiedConversation` of the store. */
export type StatePlace =
  | { readonly kind: 'thread'; readonly threadId: string }
  | { readonly kind: 'chains'; readonly chains: readonly string[] }
  | {
      readonly kind: 'session'
      readonly session: string
      readonly threadId: string
      readonly begin: string
      readonly instructions: string | null
    }

/** The state of a conversation as it was read; another version of Heddle may have written it. */
export interface KnownState {
  readonly thread: string
  readonly version: number
  readonly state: unknown
  readonly stubs: unknown
  readonly texts: unknown
}

/** The state of a conversation after a request; see the table `proxied_conversations`. */
export interface NewState extends Pick<StoredEpoch, 'state'>, Partial<Pick<StoredEpoch, 'stubs' | 'texts'>> {
  readonly threadId: string
  readonly thread: string
  /** Null if each request names the thread. */
  readonly chain: string | null
  readonly session: string | null
  readonly begin: string | null
  readonly instructions: string | null
  /** The version that it replaces; 0 if it is the first one. */
  readonly version: number
}

export type SavedState =
  | { readonly kind: 'saved'; readonly version: number }
  | { readonly kind: 'replaced'; readonly version: number; readonly sentAtMs: number }
  | { readonly kind: 'gone' }

/** States of conversations that outlive the process. */
export interface StateStore {
  load(project: string, place: StatePlace): Promise<KnownState | null>
  save(project: string, state: NewState): Promise<SavedState>
}

/** The references of which a request is put together; see the table `proxied_views`. */
export interface RelayedView {
  readonly id: string
  /** The request that it is based on. */
  readonly baseId: string | null
  readonly depth: number
  readonly delta: RequestDelta
  readonly texts: readonly RecordedText[]
  readonly bytesReceived: number
  readonly bytesSent: number
  /** SHA-256 of the bodies. */
  readonly hashReceived: Uint8Array
  readonly hashSent: Uint8Array
}

/** The thread that a request names, null without one, and its agent. */
export interface NamedInRequest {
  readonly agent: string
  readonly thread: string | null
}

export interface SettingsMode {
  readonly mode: ProxyMode
  readonly source: ProxyModeSource & ('thread' | 'agent')
}

/** The part of Heddle that the proxy stores conversations in. */
export interface ProxyBackend {
  clientOf(project: string): Pick<Client, 'messages' | 'contexts' | 'recall'>
  /** The mode in the settings of a thread, else of its agent; null if neither names one. Absent where settings are not stored. */
  settingsMode?(project: string, named: NamedInRequest): Promise<SettingsMode | null>
  /** Absent where states are not kept: a restart begins all conversations anew. */
  readonly states?: StateStore
  /**
   * Absent where figures are not stored.
   *
   * @param view what the request was made of
   * @returns whether the view is stored, so that that of the next request may be based on it
   */
  recordRequest?(project: string, request: RelayedRequest, view: RelayedView): Promise<boolean>
}
