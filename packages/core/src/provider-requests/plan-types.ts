import type { Cover, Epoch, Expansion, ProxyMode, Stub } from '@heddle/contracts'
import type { ReplacementPolicy } from './policy.js'
import type { Prices } from './prices.js'
import type { ProviderRequest } from './read-request.js'
import type { ReferenceOf } from './stubs.js'

export interface PlanInput {
  readonly request: ProviderRequest
  readonly body: Uint8Array
  /** Null for a conversation that is seen for the first time. */
  readonly epoch: Epoch | null
  readonly mode: ProxyMode
  readonly policy: ReplacementPolicy
  readonly prices: Prices
  /** A cover that was made from what is stored; used if it pays, or has to. */
  readonly prepared: Cover | null
  readonly referenceOf: ReferenceOf
  readonly nowMs: number
}

/** Why a request is sent as it is sent. */
export type PlanReason =
  /** Nothing may be replaced: by its mode, or since the provider keeps the conversation. */
  | 'observed'
  | 'owned-by-provider'
  | 'no-list'
  /** The model refuses its earlier reasoning once anything before it has changed. */
  | 'bound-reasoning'
  /** It begins with what was sent before, or the client changed that. */
  | 'first'
  | 'extends'
  | 'client-changed'
  /** A prefix is written anew: the cache has lost it, it pays, or the window is too small for it. */
  | 'cold'
  | 'pays'
  | 'window'

export interface RequestPlan {
  readonly epoch: number
  readonly isNewEpoch: boolean
  readonly reasons: readonly PlanReason[]
  /** All texts in place of results, by entry. */
  readonly stubs: readonly Stub[]
  /** Those that are sent for the first time: what they stand for has to be stored before. */
  readonly newStubs: readonly Stub[]
  readonly cover: Cover | null
  /** Replies in which the proxy answered calls of its own tool. */
  readonly expansions: readonly Expansion[]
  /** Whether the proxy's own tool is added to the caller's. */
  readonly hasRecallTool: boolean
  /** Estimated, corrected by what the provider counted before. */
  readonly tokens: { readonly received: number; readonly sent: number; readonly cached: number }
  /** Expected micro-dollars of its input: of the request as received, had all been sent so, and as sent. */
  readonly costs: { readonly direct: number; readonly sent: number }
}
