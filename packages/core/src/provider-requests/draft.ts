import type { Cover, Epoch, Expansion, Stub } from '@heddle/contracts'
import { sharedEntries } from './epoch.js'
import type { ReplacementPolicy } from './policy.js'
import type { ProviderRequest } from './read-request.js'
import { type Shortening, shorteningsOf } from './stubs.js'

/** A form of a request; stubs that are still to be written are known by their size. */
export interface Draft {
  readonly stubs: readonly Stub[]
  readonly shortenings: readonly Shortening[]
  readonly cover: Cover | null
  readonly expansions: readonly Expansion[]
}

export interface Carried extends Draft {
  readonly reason: 'first' | 'extends' | 'client-changed'
  /** The first entry that was never sent. */
  readonly freshFrom: number
}

/** The part of a request that is sent in the same form as before. */
export function carry(request: ProviderRequest, epoch: Epoch | null): Carried {
  if (epoch === null) {
    const freshFrom = answeredBefore(request) + 1
    return { reason: 'first', stubs: [], shortenings: [], cover: null, expansions: [], freshFrom }
  }
  const freshFrom = sharedEntries(epoch, request)
  return {
    reason: freshFrom === epoch.entries.length ? 'extends' : 'client-changed',
    stubs: epoch.stubs.filter(({ entry }) => entry < freshFrom),
    shortenings: [],
    cover: epoch.cover !== null && epoch.cover.to <= freshFrom ? epoch.cover : null,
    expansions: epoch.expansions.filter(({ entry, callIds }) => isReply(request.entries[entry], callIds)),
    freshFrom,
  }
}

/** Whether an entry is the reply that a client got with these calls. */
function isReply(entry: ProviderRequest['entries'][number] | undefined, callIds: readonly string[]): boolean {
  if (entry?.kind !== 'assistant' || entry.calls.length !== callIds.length) return false
  return entry.calls.every(({ id }) => callIds.includes(id))
}

/** Shortens the large results that were never sent. */
export function withFreshStubs(
  request: ProviderRequest,
  carried: Draft & Pick<Carried, 'freshFrom'>,
  policy: ReplacementPolicy,
): Draft {
  const sizes = { tokensMin: policy.resultTokensMin, tokensKept: policy.resultTokensKept }
  const fresh = request.entries.slice(carried.freshFrom).flatMap(({ index }) => shorteningsOf(request, index, sizes))
  return { ...carried, shortenings: [...carried.shortenings, ...fresh] }
}

/**
 * Shortens results that the model has answered, from an entry on, as far as they are not short already.
 *
 * @param from the first entry whose results are shortened
 */
export function withOldStubs(
  request: ProviderRequest,
  carried: Draft & Pick<Carried, 'freshFrom'>,
  { policy, from }: { readonly policy: ReplacementPolicy; readonly from: number },
): Draft {
  const sizes = { tokensMin: policy.oldResultTokensMin, tokensKept: policy.oldResultTokensKept }
  const end = Math.min(carried.freshFrom, answeredBefore(request))
  const start = Math.max(from, carried.cover?.to ?? 0)
  const short = new Set(
    carried.stubs.flatMap(({ entry, tokensAfter }) => (tokensAfter < sizes.tokensMin ? [entry] : [])),
  )
  const shortenings = request.entries.slice(start, Math.max(start, end)).flatMap(({ index }) => {
    return short.has(index) ? [] : shorteningsOf(request, index, sizes)
  })
  const replaced = new Set(shortenings.map(({ entry }) => entry))
  return { ...carried, stubs: carried.stubs.filter(({ entry }) => !replaced.has(entry)), shortenings }
}

/** The same under another cover; parts of what it covers are gone. */
export function withCover<Form extends Draft>(draft: Form, cover: Cover): Form {
  return {
    ...draft,
    cover,
    stubs: draft.stubs.filter(({ entry }) => entry >= cover.to),
    shortenings: draft.shortenings.filter(({ entry }) => entry >= cover.to),
    expansions: draft.expansions.filter(({ entry }) => entry >= cover.to),
  }
}

/** Position of the newest reply. */
function answeredBefore({ entries }: ProviderRequest): number {
  return entries.findLastIndex(({ kind }) => kind === 'assistant')
}

export function receivedTokens({ head, entries }: ProviderRequest, before = entries.length): number {
  return entries.slice(0, before).reduce((sum, { tokens }) => sum + tokens, head.tokens)
}

/** Tokens of the notes around the lines of a stub. */
const NOTE_TOKENS = 40

/** Estimated tokens that stubs save which are still to be written. */
export function savedTokens(shortenings: readonly Shortening[]): number {
  return shortenings.reduce(
    (sum, { tokensBefore, tokensKept }) => sum + Math.max(0, tokensBefore - tokensKept - NOTE_TOKENS),
    0,
  )
}

export function savedByStubs(stubs: readonly Stub[]): number {
  return stubs.reduce((sum, { tokensBefore, tokensAfter }) => sum + tokensBefore - tokensAfter, 0)
}

/**
 * Estimated tokens of a request in a form.
 *
 * @param before of the entries before this one only; it must not be covered
 */
export function sentTokens(request: ProviderRequest, draft: Draft, before = request.entries.length): number {
  const { stubs, shortenings, cover, expansions } = draft
  const isSent = ({ entry }: { entry: number }) => entry >= (cover?.to ?? 0) && entry < before
  const saved = savedByStubs(stubs.filter(isSent)) + savedTokens(shortenings.filter(isSent))
  const covered = cover === null ? 0 : cover.tokensBefore - cover.tokensAfter
  const added = expansions.filter(isSent).reduce((sum, { tokens }) => sum + tokens, 0)
  return receivedTokens(request, before) - saved - covered + added
}

/** The same as {@link sentTokens} before each entry, and before the end. */
export function sentTokensBefore(request: ProviderRequest, draft: Draft): readonly number[] {
  const { stubs, shortenings, cover, expansions } = draft
  const changes = new Float64Array(request.entries.length + 1)
  const add = (entry: number, tokens: number) => {
    if (entry >= (cover?.to ?? 0)) changes[entry] = (changes[entry] ?? 0) + tokens
  }
  for (const stub of stubs) add(stub.entry, -savedByStubs([stub]))
  for (const shortening of shortenings) add(shortening.entry, -savedTokens([shortening]))
  for (const { entry, tokens } of expansions) add(entry, tokens)
  let sum = request.head.tokens - (cover === null ? 0 : cover.tokensBefore - cover.tokensAfter)
  const before = [sum]
  for (const [index, { tokens }] of request.entries.entries()) {
    sum += tokens + (changes[index] ?? 0)
    before.push(sum)
  }
  return before
}
