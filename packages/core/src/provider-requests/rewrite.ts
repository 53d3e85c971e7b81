import type { Cover, Epoch } from '@heddle/contracts'
import { modelWindowTokens } from '../tokens/models.js'
import { requestsExpected } from './cover-cost.js'
import {
  type Carried,
  type Draft,
  receivedTokens,
  savedByStubs,
  savedTokens,
  sentTokens,
  sentTokensBefore,
  withCover,
  withFreshStubs,
  withOldStubs,
} from './draft.js'
import { isWarm } from './epoch.js'
import type { PlanInput, PlanReason } from './plan-types.js'
import type { ReplacementPolicy } from './policy.js'
import type { ProviderRequest } from './read-request.js'

/**
 * Share of the cost of a conversation so far that rewrites may take in advance, before any has saved something. Above it a
 * rewrite is paid for by what earlier ones saved, so that no conversation costs more than without the proxy, wherever it ends.
 */
const ADVANCE_SHARE = 0.01

/** A new form of a prefix that was sent before, and the tokens of it that the provider still has in its cache. */
export interface Rewritten {
  readonly draft: Draft
  readonly reason: PlanReason
  readonly cachedTokens: number
}

/**
 * A new form of what was sent before: if its cache is cold, if it pays, or if the window is too small. Null if the old form stays.
 */
export function rewrite(input: PlanInput, carried: Carried, policy: ReplacementPolicy): Rewritten | null {
  const { request, epoch, mode, prices, prepared, nowMs } = input
  if (epoch === null) return null
  const isCold = !isWarm(epoch, request, nowMs, prices.cacheLifetimeMs)
  if (!isCold && mode !== 'compact') return null
  const cover = mode === 'compact' ? usableCover(request, prepared, carried.cover) : null
  const covered = cover === null ? carried : withCover(carried, cover)
  const all = withOldStubs(request, covered, { policy, from: 0 })
  const before = sentTokens(request, carried)
  if (sentTokens(request, all) >= before) return null
  const finished = (draft: Draft) => withFreshStubs(request, { ...draft, freshFrom: carried.freshFrom }, policy)
  if (isCold) return { draft: finished(all), reason: 'cold', cachedTokens: 0 }
  const best = bestOf(candidates(input, epoch, carried, policy, cover), epoch, prices)
  if (best !== null) return { draft: finished(best.draft()), reason: 'pays', cachedTokens: best.cachedTokens }
  const room = modelWindowTokens(request.model) * policy.windowShare
  if (before * epoch.tokenRatio <= room) return null
  return { draft: finished(all), reason: 'window', cachedTokens: instructionTokens(request) }
}

interface Candidate {
  /** The form itself. */
  draft(): Draft
  /** Tokens before the first change that the provider can read from its cache. */
  readonly cachedTokens: number
  /** Tokens of the last request that were in the cache, and are written again. */
  readonly writtenTokens: number
  readonly removedTokens: number
}

/** Forms that shorten results from some entry on, and the form with a new cover. */
function* candidates(
  { request }: PlanInput,
  epoch: Epoch,
  carried: Carried,
  policy: ReplacementPolicy,
  cover: Cover | null,
): Generator<Candidate> {
  const before = sentTokens(request, carried, carried.freshFrom)
  const measure = (draft: () => Draft, cachedTokens: number, removedTokens: number): Candidate => {
    const writtenTokens = Math.max(0, before - removedTokens - cachedTokens)
    return { draft, cachedTokens, writtenTokens, removedTokens }
  }
  const tokensBefore = sentTokensBefore(request, carried)
  for (const { from, removedTokens } of savingsFrom(carried, withOldStubs(request, carried, { policy, from: 0 }))) {
    const end = cachedEnd(request, epoch, from)
    if (end < (carried.cover?.to ?? 0)) continue
    yield measure(() => withOldStubs(request, carried, { policy, from }), tokensBefore[end] ?? 0, removedTokens)
  }
  if (cover !== null) {
    const draft = withOldStubs(request, withCover(carried, cover), { policy, from: cover.to })
    const removedTokens = before - sentTokens(request, draft, carried.freshFrom)
    yield measure(() => draft, instructionTokens(request), removedTokens)
  }
}

/** The tokens that the shortenings of a form save if they begin at an entry, for each entry that has one. */
function savingsFrom(
  carried: Draft,
  { shortenings }: Draft,
): { readonly from: number; readonly removedTokens: number }[] {
  const replaced = new Map<number, number>()
  for (const stub of carried.stubs) replaced.set(stub.entry, (replaced.get(stub.entry) ?? 0) + savedByStubs([stub]))
  const savings = new Map<number, number>()
  let removedTokens = 0
  for (const shortening of shortenings.toReversed()) {
    const { entry } = shortening
    removedTokens += savedTokens([shortening]) - (savings.has(entry) ? 0 : (replaced.get(entry) ?? 0))
    savings.set(entry, removedTokens)
  }
  return [...savings].reverse().map(([from, removed]) => ({ from, removedTokens: removed }))
}

/** The candidate that saves most, if it saves anything in the requests that are expected, and is paid for. */
function bestOf(all: Iterable<Candidate>, epoch: Epoch, prices: PlanInput['prices']): Candidate | null {
  const requests = requestsExpected(epoch.requests)
  const advance = epoch.costs.direct - epoch.costs.sent + ADVANCE_SHARE * epoch.costs.direct
  let best: Candidate | null = null
  let bestGain = 0
  for (const candidate of all) {
    const { writtenTokens, removedTokens } = candidate
    const cost = (prices.cacheWrite - prices.cacheRead) * writtenTokens * epoch.tokenRatio
    const gain = prices.cacheRead * removedTokens * epoch.tokenRatio * requests - cost
    if (gain <= bestGain || cost > advance) continue
    best = candidate
    bestGain = gain
  }
  return best
}

/**
 * The end of the longest cached prefix that lies before an entry. Anthropic finds a prefix where a request with marks ended;
 * OpenAI finds one anywhere.
 */
function cachedEnd({ protocol }: ProviderRequest, { ends }: Epoch, entry: number): number {
  return protocol === 'anthropic' ? (ends.findLast((end) => end <= entry) ?? 0) : entry
}

/** A prepared cover fits a request whose history it was made from; never one that covers less than the last. */
function usableCover(request: ProviderRequest, prepared: Cover | null, current: Cover | null): Cover | null {
  if (prepared === null || prepared.to <= (current?.to ?? 0) || prepared.to >= request.entries.length) return null
  return request.entries[prepared.to - 1]?.chain === prepared.chain ? prepared : null
}

function instructionTokens(request: ProviderRequest): number {
  const first = request.entries.findIndex(({ kind }) => kind !== 'instruction')
  return receivedTokens(request, Math.max(0, first))
}
