import { type Carried, carry, type Draft, receivedTokens, sentTokens, withFreshStubs } from './draft.js'
import { isWarm } from './epoch.js'
import type { PlanInput, PlanReason, RequestPlan } from './plan-types.js'
import { scaledPolicy } from './policy.js'
import { type Prices, withHourMarks } from './prices.js'
import { bindsReasoning } from './protocol.js'
import { recallToolOf } from './recall-tool.js'
import { rewrite } from './rewrite.js'
import { writeStubs } from './stubs.js'

/** Decides what is sent in place of a request. The same input gives the same plan. */
export function planRequest(given: PlanInput): RequestPlan {
  const { request, epoch, mode, policy } = given
  const hasHourMark = request.head.hasHourMark || request.entries.some((entry) => entry.hasHourMark)
  const input = hasHourMark ? { ...given, prices: withHourMarks(given.prices) } : given
  const carried = carry(request, epoch)
  if (request.list === null) return unchanged(input, carried, 'no-list')
  if (request.isOwnedByProvider) return unchanged(input, carried, 'owned-by-provider')
  if (mode === 'observe') return unchanged(input, carried, 'observed')
  if (bindsReasoning(request.protocol, request.model)) return unchanged(input, carried, 'bound-reasoning')
  const sizes = scaledPolicy(policy, epoch?.tokenRatio ?? 1)
  const rewritten = rewrite(input, carried, sizes)
  if (rewritten === null) {
    const draft = withFreshStubs(request, carried, sizes)
    return finish(input, carried, { draft, reasons: [carried.reason], isNewEpoch: carried.reason !== 'extends' })
  }
  const { draft, reason, cachedTokens } = rewritten
  const reasons: PlanReason[] = carried.reason === 'client-changed' ? [carried.reason, reason] : [reason]
  return finish(input, carried, { draft, reasons, isNewEpoch: true, cachedTokens })
}

interface Decision {
  readonly draft: Draft
  readonly reasons: readonly PlanReason[]
  readonly isNewEpoch: boolean
  /** Of a prefix that is written anew. */
  readonly cachedTokens?: number
}

/** The form of the client. */
function unchanged(input: PlanInput, carried: Carried, reason: PlanReason): RequestPlan {
  const { epoch } = input
  const isSame = epoch !== null && epoch.sent === null && !epoch.hasRecallTool && carried.reason === 'extends'
  const draft = { stubs: [], shortenings: [], cover: null, expansions: [] }
  const isFirst = epoch === null || isSame || carried.reason === 'client-changed'
  return finish(input, carried, {
    draft,
    reasons: [reason],
    isNewEpoch: !isSame,
    cachedTokens: isFirst ? undefined : 0,
  })
}

function finish(input: PlanInput, carried: Carried, decision: Decision): RequestPlan {
  const { request, body, epoch, prices, referenceOf, nowMs } = input
  const { draft, isNewEpoch, reasons } = decision
  const { cover, expansions } = draft
  const newStubs = writeStubs(request, body, draft.shortenings, referenceOf)
  const stubs = [...draft.stubs, ...newStubs].sort((one, other) => one.entry - other.entry || one.result - other.result)
  const ratio = epoch?.tokenRatio ?? 1
  const received = receivedTokens(request) * ratio
  const sent = sentTokens(request, { stubs, shortenings: [], cover, expansions }) * ratio
  const warm = epoch !== null && isWarm(epoch, request, nowMs, prices.cacheLifetimeMs)
  const known = warm ? receivedTokens(request, carried.freshFrom) * ratio : 0
  const cached = warm ? (decision.cachedTokens ?? sentTokens(request, carried, carried.freshFrom)) * ratio : 0
  return {
    epoch: (epoch?.number ?? 0) + (isNewEpoch ? 1 : 0),
    isNewEpoch,
    reasons,
    stubs,
    newStubs,
    cover,
    expansions,
    hasRecallTool: hasRecallTool(input, decision),
    tokens: { received: Math.round(received), sent: Math.round(sent), cached: Math.round(cached) },
    costs: { direct: inputCost(prices, received, known), sent: inputCost(prices, sent, cached) },
  }
}

/** Micro-dollars of the input of a request. */
function inputCost({ cacheRead, cacheWrite }: Prices, tokens: number, cachedTokens: number): number {
  return cacheRead * cachedTokens + cacheWrite * Math.max(0, tokens - cachedTokens)
}

/**
 * Whether the proxy's own tool is sent: from the beginning of a conversation, or of an epoch with a cold cache, until the end
 * of the epoch. Tools precede everything else, so that adding one to a warm prefix would write all of it again.
 */
function hasRecallTool(
  { request, epoch, mode, policy }: PlanInput,
  { isNewEpoch, reasons }: Pick<RequestPlan, 'isNewEpoch' | 'reasons'>,
): boolean {
  if (mode === 'observe' || request.isOwnedByProvider || request.head.tools === null) return false
  if (bindsReasoning(request.protocol, request.model)) return false
  if (!isNewEpoch || (epoch?.hasRecallTool === true && !reasons.includes('cold'))) return epoch?.hasRecallTool ?? false
  if (!policy.addsRecallTool || recallToolOf(request.protocol) === null) return false
  return reasons.includes('cold') || !request.entries.some(({ kind }) => kind === 'assistant')
}
