import {
  type CountedTokens,
  isWarm,
  type Prices,
  type ProviderRequest,
  priceOf,
  pricesOf,
  sharedEntries,
} from '@heddle/core'
import type { RelayedRequest } from '../backend.js'
import type { AskedMode } from '../modes/asked-mode.js'
import type { Decision } from './decide.js'
import type { RecalledFacts } from './recalled-facts.js'
import { furtherUsage, type Sending, type Usage } from './send.js'

export interface RelayedFacts {
  readonly id: string
  readonly upstream: string
  readonly decision: Decision
  readonly sending: Sending
  readonly usage: Usage | null
  readonly recalled: RecalledFacts
  /** The mode that was asked for. */
  readonly asked: AskedMode
  /** Of the reply; 0 without one. */
  readonly status: number
  readonly addedMs: number
  readonly firstByteMs: number | null
}

/** The figures of a request that was relayed: no contents, headers or credentials. */
export function relayedRequestOf(facts: RelayedFacts): RelayedRequest {
  const { id, upstream, decision, sending, usage, recalled, asked, status, addedMs, firstByteMs } = facts
  const { conversation, request, plan } = sending
  const { prices, isKnown } = pricesOf(request.protocol, request.model)
  const isPriced = usage !== null && isKnown
  const further = furtherUsage(recalled)
  return {
    id,
    threadId: conversation.threadId,
    thread: conversation.thread,
    upstream,
    protocol: request.protocol,
    model: request.model.slice(0, MODEL_CHARACTERS_MAX),
    mode: asked.mode,
    modeSource: asked.source,
    isControl: decision.isControl,
    epoch: plan.epoch,
    reasons: plan.reasons,
    passed: decision.passed,
    entries: request.entries.length,
    stubs: plan.stubs.length,
    coveredEntries: plan.cover?.to ?? 0,
    tokensReceived: plan.tokens.received,
    tokensSent: plan.tokens.sent,
    tokensCached: plan.tokens.cached,
    inputTokens: usage?.input ?? null,
    cacheReadTokens: usage?.cacheRead ?? null,
    cacheWriteTokens: usage?.cacheWrite ?? null,
    outputTokens: usage?.output ?? null,
    costUsd: isPriced ? priceOf(prices, usage) : null,
    directCostUsd: isPriced ? priceOf(prices, directUsage(sending, recalled.asked ?? usage, prices)) : null,
    recalls: recalled.recalls,
    recallCostUsd: isPriced && further !== null && recalled.recalls > 0 ? priceOf(prices, further) : null,
    status,
    addedMs,
    firstByteMs,
  }
}

const MODEL_CHARACTERS_MAX = 200

/**
 * The usage that the request would have had as it came: estimated in proportion to what was counted for the request that was
 * sent. The provider is expected to have the part of it that the request before it had, while its cache is warm.
 */
function directUsage({ request, plan, before, sentAtMs }: Sending, usage: Usage, prices: Prices): CountedTokens {
  const isUnchanged = plan.stubs.length === 0 && plan.cover === null && (before === null || before.sent === null)
  if (isUnchanged || plan.tokens.sent <= 0) return usage
  const counted = usage.input + usage.cacheRead + usage.cacheWrite
  const received = (plan.tokens.received * counted) / plan.tokens.sent
  // Without marks for the cache, or below its least size, nothing is read from it or written to it.
  if (usage.cacheRead + usage.cacheWrite === 0) return { ...usage, input: received }
  const isCached = before !== null && isWarm(before, request, sentAtMs, prices.cacheLifetimeMs)
  const share = isCached ? sharedTokens(request, sharedEntries(before, request)) : 0
  const cacheRead = received * share
  return { input: 0, cacheRead, cacheWrite: received - cacheRead, output: usage.output }
}

/** The share of a request's tokens in its first entries and in its head. */
function sharedTokens({ head, entries }: ProviderRequest, count: number): number {
  const sum = (some: readonly { readonly tokens: number }[]) => some.reduce((total, { tokens }) => total + tokens, 0)
  return (head.tokens + sum(entries.slice(0, count))) / Math.max(1, head.tokens + sum(entries))
}
