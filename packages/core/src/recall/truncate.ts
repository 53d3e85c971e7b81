import { countTokens } from '../tokens/tokens.js'
import { sliceWhole } from '../tools/lines.js'
import { selectLines } from './lines.js'
import type { LineMatch } from './search.js'
import { finish, type Pausable } from './steps.js'

export interface TruncatedContent {
  readonly content: string
  readonly tokenCount: number
  readonly truncated: boolean
}

/** Tokens reserved for the note at the end. */
const NOTE_TOKENS = 48

/**
 * Cuts a content to a number of tokens: whole lines from its start, then a note that states how much is missing and
 * which lines to request next. The note counts too, so the result is within `tokensMax`; if that is too few for a note,
 * the content is cut without one.
 *
 * @param firstLine the number of the content's first line in what it was cut from
 */
export function* truncateToTokens(content: string, tokensMax: number, firstLine = 1): Pausable<TruncatedContent> {
  const { length, tokens } = yield* measurePrefix(content, tokensMax)
  if (length === content.length) return { content, tokenCount: tokens, truncated: false }
  const { length: room } = yield* measurePrefix(content.slice(0, length), Math.max(0, tokensMax - NOTE_TOKENS))
  const lineEnd = content.charAt(room) === '\n' ? room : room === 0 ? -1 : content.lastIndexOf('\n', room - 1)
  // A first line that alone is too long is cut inside: an answer without any content would be useless.
  const kept = content.slice(0, lineEnd > 0 ? lineEnd : room)
  const text = `${kept}\n${yield* noteOf(content, kept, { firstLine, keptWholeLines: lineEnd > 0 })}`
  const tokenCount = yield* measure(text)
  if (room > 0 && tokenCount <= tokensMax) return { content: text, tokenCount, truncated: true }
  const bare = content.slice(0, length)
  return { content: bare, tokenCount: yield* measure(bare), truncated: true }
}

function* noteOf(
  content: string,
  kept: string,
  { firstLine, keptWholeLines }: { firstLine: number; keptWholeLines: boolean },
): Pausable<string> {
  const left = content.length - kept.length
  const lastLine = firstLine + (yield* selectLines(content, null)).linesTotal - 1
  // A line kept without its newline still counts as a line, also an empty one.
  const next = firstLine + (yield* selectLines(`${kept}\n`, null)).linesTotal
  const rest = next <= lastLine ? `lines ${next}-${lastLine}` : null
  if (keptWholeLines) return `[truncated: ${left} characters left${rest === null ? '' : `; ask for ${rest}`}]`
  return `[truncated: ${left} characters left: line ${next - 1} is cut${rest === null ? '' : `, then ${rest}`}; search for a text to see more]`
}

/**
 * Cuts the matches of a search to a number of tokens: the first of them, then a note that states how many are left and
 * in which lines to search for them.
 *
 * @param excerpts the matches as they are shown, one for one
 */
export function* truncateMatches(
  excerpts: readonly string[],
  { matches, matchCount, lastLine }: { matches: readonly LineMatch[]; matchCount: number; lastLine: number },
  tokensMax: number,
): Pausable<TruncatedContent> {
  const whole = excerpts.join('\n')
  const { length, tokens } = yield* measurePrefix(whole, tokensMax)
  const isWhole = length === whole.length && matchCount === excerpts.length
  if (isWhole) return { content: whole, tokenCount: tokens, truncated: false }
  const { length: room } = yield* measurePrefix(whole.slice(0, length), Math.max(0, tokensMax - NOTE_TOKENS))
  let shown = 0
  let end = -1
  for (const excerpt of excerpts) {
    if (end + 1 + excerpt.length > room) break
    end += 1 + excerpt.length
    shown++
  }
  const next = matches[shown]?.line ?? (matches.at(-1)?.line ?? 0) + 1
  const note = `[truncated: ${matchCount - shown} of ${matchCount} matches left; search again in lines ${next}-${lastLine}, or for a longer text]`
  const text = shown > 0 ? `${whole.slice(0, end)}\n${note}` : note
  const tokenCount = yield* measure(text)
  if (tokenCount <= tokensMax) return { content: text, tokenCount, truncated: true }
  const bare = whole.slice(0, length)
  return { content: bare, tokenCount: yield* measure(bare), truncated: true }
}

/** Characters per slice whose tokens are counted at once. */
const SLICE_CHARACTERS = 1_000
/** Texts up to this length are counted as a whole; longer ones in slices, whose sum may be slightly too high. */
const COUNTED_WHOLE_MAX = 16_000

/** Approximate length of the longest prefix within a number of tokens; reads little more than that prefix. */
export function prefixWithinTokens(content: string, tokensMax: number): number {
  return finish(measurePrefix(content, tokensMax)).length
}

function* measurePrefix(content: string, tokensMax: number): Pausable<{ length: number; tokens: number }> {
  let length = 0
  let tokens = 0
  while (length < content.length) {
    const slice = nextSlice(content, length)
    const cost = countTokens(slice)
    if (tokens + cost > tokensMax) {
      length += yield* prefixOfSlice(slice, tokensMax - tokens)
      break
    }
    tokens += cost
    length += slice.length
    yield
  }
  // Slices split tokens, so their sum is too high: a content that fits must not be reported as too long.
  const isNearEnd = content.length <= length + 2 * SLICE_CHARACTERS && content.length <= COUNTED_WHOLE_MAX
  if (isNearEnd) {
    const exact = countTokens(content)
    if (exact <= tokensMax) return { length: content.length, tokens: exact }
  }
  return { length, tokens }
}

/** Tokens of a text; a long one is counted in slices, never too low. */
export function* measure(text: string): Pausable<number> {
  if (text.length <= COUNTED_WHOLE_MAX) return countTokens(text)
  let tokens = 0
  for (let from = 0; from < text.length; ) {
    const slice = nextSlice(text, from)
    tokens += countTokens(slice)
    from += slice.length
    yield
  }
  return tokens
}

/**
 * Ends after a line if the next begins with a letter or a digit: no token spans that boundary, so the sum is exact
 * there.
 */
function nextSlice(content: string, from: number): string {
  const slice = sliceWhole(content.slice(from, from + SLICE_CHARACTERS + 1), SLICE_CHARACTERS)
  for (let end = slice.lastIndexOf('\n'); end > slice.length / 2; end = slice.lastIndexOf('\n', end - 1)) {
    if (/[\p{L}\p{N}]/u.test(slice.charAt(end + 1))) return slice.slice(0, end + 1)
  }
  return slice
}

function* prefixOfSlice(slice: string, tokensMax: number): Pausable<number> {
  let low = 0
  let high = slice.length
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (countTokens(sliceWhole(slice, middle)) <= tokensMax) low = middle
    else high = middle - 1
    yield
  }
  return sliceWhole(slice, low).length
}
