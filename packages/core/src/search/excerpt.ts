import type { Pausable } from '../recall/steps.js'
import { isLowSurrogate } from '../tokens/characters.js'
import { termsOf } from './terms/words.js'

/** Characters around the matched words. */
export const EXCERPT_CHARACTERS_MAX = 500

/** Characters of a text that are searched for the best excerpt. */
const LOOKED_AT_CHARACTERS_MAX = 200_000

/** Pieces of a text between white space, which never split a term; longer pieces are cut. */
const PIECE = /\S{1,200}/g
/** Text without spaces is slowest: a few milliseconds per slice. */
const CHARACTERS_PER_SLICE = 4_000

/**
 * The part of a text with the most query terms: all of a short text, the beginning of a text without matches. Cut ends
 * are marked by `…`.
 */
export function* excerpt(
  text: string,
  terms: ReadonlySet<string>,
  charactersMax = EXCERPT_CHARACTERS_MAX,
): Pausable<string> {
  const trimmed = text.trim()
  if (trimmed.length <= charactersMax) return trimmed
  const matches: Match[] = []
  let pauseAt = CHARACTERS_PER_SLICE
  for (const { 0: piece, index } of trimmed.slice(0, LOOKED_AT_CHARACTERS_MAX).matchAll(PIECE)) {
    for (const term of termsOf(piece))
      if (terms.has(term)) matches.push({ from: index, to: index + piece.length, term })
    if (index < pauseAt) continue
    pauseAt = index + CHARACTERS_PER_SLICE
    yield
  }
  const { from, to } = densest(matches, charactersMax)
  const middle = Math.max(0, Math.floor((charactersMax - (to - from)) / 2))
  const start = Math.max(0, Math.min(from - middle, trimmed.length - charactersMax))
  return cut(trimmed, start, start + charactersMax)
}

interface Match {
  readonly from: number
  readonly to: number
  readonly term: string
}

/** The first run of matches that fits an excerpt and has the most distinct terms. */
function densest(matches: readonly Match[], charactersMax: number): { from: number; to: number } {
  let best = { from: 0, to: 0, different: 0 }
  const inside = new Map<string, number>()
  let first = 0
  for (const { to, term } of matches) {
    inside.set(term, (inside.get(term) ?? 0) + 1)
    for (let oldest = matches[first]; oldest && to - oldest.from > charactersMax; oldest = matches[first]) {
      const left = (inside.get(oldest.term) ?? 1) - 1
      if (left === 0) inside.delete(oldest.term)
      else inside.set(oldest.term, left)
      first++
    }
    const from = matches[first]?.from
    if (from !== undefined && inside.size > best.different) best = { from, to, different: inside.size }
  }
  return best
}

function cut(text: string, from: number, to: number): string {
  const start = isLowSurrogate(text.charCodeAt(from)) ? from + 1 : from
  const end = isLowSurrogate(text.charCodeAt(to)) ? to - 1 : to
  return `${start > 0 ? '…' : ''}${text.slice(start, end)}${end < text.length ? '…' : ''}`
}
