import { validationError } from '@heddle/contracts'
import { countTokens } from './tokens.js'
import { countLines, isOnlySigns, sliceWhole } from './tools/lines.js'

/** What a recall gives back (spec 001). */
export interface RecallResult {
  /** The full reference that was resolved. */
  readonly ref: string
  readonly contentType: string
  readonly summary: string
  readonly content: string
  readonly filePaths: readonly string[]
  /** Tokens of `content`. */
  readonly tokenCount: number
  /** Whether something of what was asked for is missing in `content`, which then says what. */
  readonly truncated: boolean
}

/** A run of whole lines of a content, to the byte, without the newline that ends the last one. */
export interface LineSelection {
  readonly text: string
  /** From 1, both ends included; `to` is the last line that there is where more were asked for. */
  readonly from: number
  readonly to: number
  readonly linesTotal: number
}

/**
 * Cuts lines out of a content.
 *
 * @param range `10-50`, `L10-50` or `10`
 * @throws PermanentError `VALIDATION_ERROR` for another form, or where the content ends before the first line
 */
export function selectLines(content: string, range: string): LineSelection {
  const written = /^\s*L?(\d{1,9})(?:\s*-\s*L?(\d{1,9}))?\s*$/i.exec(range)
  const from = Number(written?.[1])
  const to = Number(written?.[2] ?? written?.[1])
  if (!written || from < 1 || to < from) throw validationError('lines', 'must be a range of lines such as 10-50', range)
  const linesTotal = countLines(content)
  if (from > linesTotal) throw validationError('lines', `must begin within the content's ${linesTotal} lines`, range)
  const start = lineStart(content, from)
  const end = to >= linesTotal ? content.length : lineStart(content, to + 1) - 1
  const text = content.slice(start, end)
  const lastEnds = to >= linesTotal && text.endsWith('\n')
  return { text: lastEnds ? text.slice(0, -1) : text, from, to: Math.min(to, linesTotal), linesTotal }
}

function lineStart(content: string, line: number): number {
  let at = 0
  for (let number = 1; number < line; number++) at = content.indexOf('\n', at) + 1
  return at
}

export interface LineMatch {
  /** From 1. */
  readonly line: number
  readonly text: string
}

/** Matches that one search reports; a search that finds more should be narrower. */
const MATCHES_MAX = 10_000

/** The lines that hold a literal text, whatever the case of its letters. */
export function searchLines(content: string, literal: string): LineMatch[] {
  const wanted = literal.toLowerCase()
  return linesWhere(content, MATCHES_MAX, (line) => wanted !== '' && line.toLowerCase().includes(wanted))
}

/**
 * The match that the location `match-3` names: of a literal text where one is given, else of the search that the content
 * is the result of, where each line that is no heading is a match. Null where there are fewer.
 */
export function nthMatch(content: string, number: number, literal: string | null = null): LineMatch | null {
  const wanted = literal?.toLowerCase() ?? null
  const matches = linesWhere(content, number, (line) =>
    wanted === null ? !isOnlySigns(line) && !HEADING.test(line) : line.toLowerCase().includes(wanted),
  )
  return matches[number - 1] ?? null
}

const HEADING = /^\s*(?:found \d+|no (?:matches|files)|\(results are truncated)/i

function linesWhere(content: string, matchesMax: number, fits: (line: string) => boolean): LineMatch[] {
  const matches: LineMatch[] = []
  let number = 1
  for (let from = 0; from <= content.length && matches.length < matchesMax; number++) {
    const end = content.indexOf('\n', from)
    const to = end === -1 ? content.length : end
    const text = content.slice(from, to)
    if (fits(text)) matches.push({ line: number, text: text.endsWith('\r') ? text.slice(0, -1) : text })
    from = to + 1
  }
  return matches
}

/** Matches as a model reads them: each with its line number. */
export function formatMatches(matches: readonly LineMatch[]): string {
  return matches.map(({ line, text }) => `${line}: ${text}`).join('\n')
}

export interface TruncatedContent {
  readonly content: string
  readonly tokenCount: number
  readonly truncated: boolean
}

/** Room for the note at the end. */
const NOTE_TOKENS = 48

/**
 * Holds a content to a number of tokens: whole lines from its start, then a note that says how much is missing and which
 * lines to ask for next. The note counts too, so the result is within `tokensMax`; where that is too few for a note, the
 * content is cut without one.
 *
 * @param firstLine the number of the content's first line in what it was cut from
 */
export function truncateToTokens(content: string, tokensMax: number, firstLine = 1): TruncatedContent {
  const length = prefixWithinTokens(content, tokensMax)
  if (length === content.length) return { content, tokenCount: countTokens(content), truncated: false }
  const room = prefixWithinTokens(content.slice(0, length), Math.max(0, tokensMax - NOTE_TOKENS))
  const lineEnd = content.charAt(room) === '\n' ? room : room === 0 ? -1 : content.lastIndexOf('\n', room - 1)
  // A first line that is too long alone is cut inside: an answer without any content would help nobody.
  const kept = content.slice(0, lineEnd > 0 ? lineEnd : room)
  const text = `${kept}\n${noteOf(content, kept, firstLine, lineEnd > 0)}`
  const tokenCount = countTokens(text)
  if (room > 0 && tokenCount <= tokensMax) return { content: text, tokenCount, truncated: true }
  const bare = content.slice(0, length)
  return { content: bare, tokenCount: countTokens(bare), truncated: true }
}

function noteOf(content: string, kept: string, firstLine: number, keptWholeLines: boolean): string {
  const left = content.length - kept.length
  const lastLine = firstLine + countLines(content) - 1
  const next = firstLine + kept.split('\n').length
  const rest = next <= lastLine ? `lines ${next}-${lastLine}` : null
  if (keptWholeLines) return `[truncated: ${left} characters left${rest === null ? '' : `; ask for ${rest}`}]`
  return `[truncated: ${left} characters left: line ${next - 1} is cut${rest === null ? '' : `, then ${rest}`}; search for a text to see more]`
}

/** Characters of a slice whose tokens are counted at once. */
const SLICE_CHARACTERS = 2_000

/** Length of the longest prefix within a number of tokens, to within a few; it reads little more than it keeps. */
export function prefixWithinTokens(content: string, tokensMax: number): number {
  let length = 0
  let tokens = 0
  while (length < content.length) {
    const slice = sliceWhole(content.slice(length, length + SLICE_CHARACTERS + 1), SLICE_CHARACTERS)
    const cost = countTokens(slice)
    if (tokens + cost > tokensMax) {
      length += prefixOfSlice(slice, tokensMax - tokens)
      break
    }
    tokens += cost
    length += slice.length
  }
  // Slices break tokens apart, so their sum is too high: what fits whole must not be called too long.
  if (length < content.length && content.length <= length + 2 * SLICE_CHARACTERS && countTokens(content) <= tokensMax) {
    return content.length
  }
  return length
}

function prefixOfSlice(slice: string, tokensMax: number): number {
  let low = 0
  let high = slice.length
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (countTokens(sliceWhole(slice, middle)) <= tokensMax) low = middle
    else high = middle - 1
  }
  return sliceWhole(slice, low).length
}
