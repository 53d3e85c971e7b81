import type { Epoch } from '@heddle/contracts'
import type { RequestPlan } from './plan-types.js'
import type { ProviderRequest } from './read-request.js'

/** How many entries a request has in common with the last one. */
export function sharedEntries(epoch: Epoch, request: ProviderRequest): number {
  const { length } = epoch.entries
  let shared = 0
  while (shared < length && request.entries[shared]?.hash === epoch.entries[shared]) shared++
  return shared
}

/** Whether the provider still has the last request in its cache, as far as is known. */
export function isWarm(epoch: Epoch, request: ProviderRequest, nowMs: number, lifetimeMs: number): boolean {
  return epoch.model === request.model && epoch.head === request.head.hash && nowMs - epoch.sentAtMs < lifetimeMs
}

/**
 * The state after a request was sent.
 *
 * @param sent what was sent, read; the request itself if nothing was replaced
 */
export function advanceEpoch(
  epoch: Epoch | null,
  { request, sent, plan, nowMs }: { request: ProviderRequest; sent: ProviderRequest; plan: RequestPlan; nowMs: number },
): Epoch {
  const hashes = request.entries.map(({ hash }) => hash)
  return {
    number: plan.epoch,
    model: request.model,
    head: request.head.hash,
    entries: hashes,
    sent: sent === request ? null : sent.entries.map(({ hash }) => hash),
    stubs: [...plan.stubs],
    cover: plan.cover,
    expansions: [...plan.expansions],
    hasRecallTool: plan.hasRecallTool,
    sentHead: sent.head.hash,
    ends: [...(epoch === null ? [] : keptEnds(epoch, sent, plan)), hashes.length].slice(-ENDS_MAX),
    costs: {
      direct: (epoch?.costs.direct ?? 0) + plan.costs.direct,
      sent: (epoch?.costs.sent ?? 0) + plan.costs.sent,
    },
    requests: (epoch?.requests ?? 0) + 1,
    requestsInEpoch: plan.isNewEpoch ? 1 : (epoch?.requestsInEpoch ?? 0) + 1,
    sentTokens: estimatedTokens(sent),
    tokenRatio: epoch?.tokenRatio ?? 1,
    sentAtMs: nowMs,
  }
}

/** Requests whose ends are kept: a cached prefix that is older has hardly been used since. */
const ENDS_MAX = 40

/** Ends of earlier requests before which the new one sends the same. */
function keptEnds(epoch: Epoch, { entries }: ProviderRequest, { cover, expansions }: RequestPlan): number[] {
  const before = epoch.sent ?? epoch.entries
  let shared = 0
  while (shared < before.length && before[shared] === entries[shared]?.hash) shared++
  const from = cover?.to ?? 0
  const instructions = entries.findIndex(({ kind }) => kind !== 'instruction')
  return epoch.ends.filter((end) => {
    if (end < from) return false
    const added = expansions.filter(({ entry }) => entry < end).reduce((sum, each) => sum + each.entries.length - 1, 0)
    const sentEnd = cover === null ? end : end - from + Math.max(0, instructions) + 1
    return sentEnd + added <= shared
  })
}

/** Corrects the estimates of later requests by what the provider counted for the last one. */
export function withCountedTokens(epoch: Epoch, countedTokens: number): Epoch {
  if (countedTokens <= 0 || epoch.sentTokens <= 0) return epoch
  return {
    ...epoch,
    tokenRatio: Math.min(TOKEN_RATIO_MAX, Math.max(1 / TOKEN_RATIO_MAX, countedTokens / epoch.sentTokens)),
  }
}

/** Adds the price of further requests, in micro-dollars, that there would have been none of without the proxy. */
export function withFurtherCost(epoch: Epoch, microDollars: number): Epoch {
  return { ...epoch, costs: { ...epoch.costs, sent: epoch.costs.sent + microDollars } }
}

/** Beyond it a count says something else than the size of the request. */
const TOKEN_RATIO_MAX = 4

function estimatedTokens({ head, entries }: ProviderRequest): number {
  return entries.reduce((sum, { tokens }) => sum + tokens, head.tokens)
}
