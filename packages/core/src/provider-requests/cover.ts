import type { Cover, Epoch } from '@heddle/contracts'
import { modelWindowTokens } from '../tokens/models.js'
import { sliceWhole } from '../tools/lines.js'
import { estimateValueTokens, objectsIn, textIn } from './blocks.js'
import { growthBetweenCovers } from './cover-cost.js'
import { type ReplacementPolicy, scaledPolicy } from './policy.js'
import type { Prices } from './prices.js'
import { bindsReasoning } from './protocol.js'
import { type ProviderRequest, readEntryAt } from './read-request.js'

/** The longest request of a user that is repeated after a summary. */
const WORDS_CHARACTERS_MAX = 8_000

/** Sizes of a context that may replace a conversation's history, in estimated tokens. */
export interface CoverSizes {
  /** Of the text in place of the covered entries. */
  readonly summaryTokens: number
  /** Of the newest entries, which are sent themselves. */
  readonly keptTokens: number
}

/**
 * The sizes of a cover that a conversation may get at one of its next requests; null while it would not be worth it. The
 * threshold follows from prices and growth, see {@link growthBetweenCovers}.
 */
export function coverSizes(
  { request, epoch }: { readonly request: ProviderRequest; readonly epoch: Epoch },
  policy: ReplacementPolicy,
  prices: Prices,
): CoverSizes | null {
  if (request.list === null || request.isOwnedByProvider) return null
  if (bindsReasoning(request.protocol, request.model)) return null
  const { summaryTokens, keptTokens, coverTokensMin } = scaledPolicy(policy, epoch.tokenRatio)
  const conversation = epoch.sentTokens - request.head.tokens
  const remainingTokens = summaryTokens + keptTokens
  const removed = conversation - remainingTokens
  if (removed < coverTokensMin) return null
  const tokensPerRequest = Math.max(1, conversation / Math.max(1, epoch.requests))
  const growth = growthBetweenCovers({ remainingTokens, tokensPerRequest }, prices)
  const isTight = epoch.sentTokens * epoch.tokenRatio > modelWindowTokens(request.model) * policy.windowShare
  return removed >= growth || isTight ? { summaryTokens, keptTokens } : null
}

/** The first of the newest entries that have a number of estimated tokens together. */
export function firstKeptEntry({ entries }: ProviderRequest, tokensMax: number): number {
  let left = tokensMax
  let from = entries.length
  for (; from > 0; from--) {
    left -= entries[from - 1]?.tokens ?? 0
    if (left < 0) break
  }
  return from
}

/**
 * A cover of a request's entries before one of them; null if the conversation cannot be cut there or earlier.
 *
 * @param before the first entry that is not part of the text
 * @param text describes all entries before it
 */
export function makeCover(
  request: ProviderRequest,
  body: Uint8Array,
  { before, text, contextId }: { readonly before: number; readonly text: string; readonly contextId?: string },
): Cover | null {
  const { entries } = request
  const first = firstCovered(request)
  let to = Math.min(before, entries.length - 1)
  while (to > first && !mayCutAt(request, to)) to--
  if (to <= first) return null
  const last = entries.findLastIndex(({ kind }) => kind === 'user')
  const said = { text: text.trim(), words: last >= first && last < to ? last : null }
  const tokensBefore = entries.slice(first, to).reduce((sum, { tokens }) => sum + tokens, 0)
  const tokensAfter = estimateValueTokens(coverText(request, body, said))
  const chain = entries[to - 1]?.chain
  if (tokensAfter >= tokensBefore || chain === undefined) return null
  return { to, chain, ...said, tokensBefore, tokensAfter, contextId }
}

/** Instructions at the beginning stay. */
export function firstCovered({ entries }: ProviderRequest): number {
  const first = entries.findIndex(({ kind }) => kind !== 'instruction')
  return first < 0 ? entries.length : first
}

/** Whether the entries before one may be left out: no call is parted from its result, no entry from the one it needs. */
function mayCutAt({ entries }: ProviderRequest, index: number): boolean {
  if (entries[index]?.kind === 'results' || entries[index - 1]?.isBoundToNext === true) return false
  const open = new Set<string>()
  for (const { calls, resultIds } of entries.slice(0, index)) {
    for (const { id } of calls) open.add(id)
    for (const id of resultIds) open.delete(id)
  }
  return !entries.slice(index).some(({ resultIds }) => resultIds.some((id) => open.has(id)))
}

/** The whole text in place of the covered entries: that of the cover, and the user's last words, unchanged, if they are covered. */
export function coverText(
  request: ProviderRequest,
  body: Uint8Array,
  { text, words }: Pick<Cover, 'text' | 'words'>,
): string {
  if (words === null) return text
  const { content } = readEntryAt(request, body, words).value
  const said =
    textIn(content) ??
    objectsIn(content)
      .flatMap(({ text }) => textIn(text) ?? [])
      .join('\n')
  return `${text}\n\nThe user's last request, word for word:\n${sliceWhole(said, WORDS_CHARACTERS_MAX)}`
}
