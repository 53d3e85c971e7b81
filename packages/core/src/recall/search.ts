import { isOnlySigns, sliceWhole } from '../tools/lines.js'
import type { Pausable } from './steps.js'

/**
 * Searching within one content. A search is for a literal text: no query takes more than one pass over the content, and
 * the pass yields (see `Pausable`), so no query can block the process.
 */

export interface LineMatch {
  /** From 1. */
  readonly line: number
  readonly text: string
}

export interface SearchedLines {
  /** The first {@link MATCHES_MAX} of them. */
  readonly matches: readonly LineMatch[]
  readonly matchCount: number
}

/** Matches kept per search; the others are counted. A search with more should be narrowed. */
const MATCHES_MAX = 10_000
/** Characters searched between two yields: about a millisecond of work. */
const WINDOW_CHARACTERS = 64 * 1024
const LINES_BETWEEN_PAUSES = 2_000

/**
 * The lines that contain a literal text, ignoring case.
 *
 * @param firstLine the number of the content's first line in what it was cut from
 */
export function* searchLines(content: string, literal: string, firstLine = 1): Pausable<SearchedLines> {
  const matches: LineMatch[] = []
  const wanted = literal.toLowerCase()
  let matchCount = 0
  for (const one of linesOf(content, firstLine)) {
    if (one === undefined) yield
    else if (wanted !== '' && (isShort(one.text) ? holds(one.text, wanted) : yield* holdsInParts(one.text, wanted))) {
      matchCount++
      if (matches.length < MATCHES_MAX) matches.push(one)
    }
  }
  return { matches, matchCount }
}

/**
 * The match that the location `match-3` names, in a content that is the result of a search: each line that is not a
 * heading is a match. Null if there are fewer.
 */
export function* nthMatch(content: string, number: number, firstLine = 1): Pausable<LineMatch | null> {
  let count = 0
  for (const one of linesOf(content, firstLine)) {
    if (one === undefined) yield
    else if (!isOnlySigns(one.text.slice(0, WINDOW_CHARACTERS)) && !HEADING.test(one.text) && ++count === number) {
      return one
    }
  }
  return null
}

const HEADING = /^\s{0,100}(?:found \d|no (?:matches|files)|\(results are truncated)/i

/** Characters of a long line shown around a match. */
const EXCERPT_CHARACTERS = 500
const CHARACTERS_BEFORE = 150

/** Matches for a model: each with its line number, and only the surroundings of the match in a long line. */
export function excerptsOf(matches: readonly LineMatch[], literal: string): string[] {
  return matches.map(({ line, text }) => `${line}: ${excerptOf(text, literal)}`)
}

function excerptOf(line: string, literal: string): string {
  if (line.length <= EXCERPT_CHARACTERS) return line
  const place = placeOf(line, literal.toLowerCase())
  const from = Math.max(0, place - CHARACTERS_BEFORE)
  const excerpt = sliceWhole(line.slice(from, from + EXCERPT_CHARACTERS + 1), EXCERPT_CHARACTERS).toWellFormed()
  return `${from > 0 ? '…' : ''}${excerpt}${from + EXCERPT_CHARACTERS < line.length ? '…' : ''}`
}

/** The approximate index of a text in a line: lower-casing can lengthen a line slightly. */
function placeOf(line: string, wanted: string): number {
  for (let from = 0; from < line.length; from += WINDOW_CHARACTERS) {
    const at = line
      .slice(from, from + WINDOW_CHARACTERS + wanted.length)
      .toLowerCase()
      .indexOf(wanted)
    if (at !== -1) return from + at
  }
  return 0
}

const isShort = (line: string) => line.length <= WINDOW_CHARACTERS

/** Whether a line contains a lower-case text, ignoring case. */
function holds(line: string, wanted: string): boolean {
  return line.toLowerCase().includes(wanted)
}

/** The same for a long line, searched in windows that overlap by the text's length. */
function* holdsInParts(line: string, wanted: string): Pausable<boolean> {
  for (let from = 0; from < line.length; from += WINDOW_CHARACTERS) {
    if (holds(line.slice(from, from + WINDOW_CHARACTERS + wanted.length), wanted)) return true
    yield
  }
  return false
}

/** The lines of a content with their numbers; undefined whenever it is time to yield. */
function* linesOf(content: string, firstLine: number): Generator<LineMatch | undefined> {
  let line = firstLine
  let [characters, lines] = [0, 0]
  for (let from = 0; from < content.length; line++) {
    const end = content.indexOf('\n', from)
    const to = end === -1 ? content.length : end
    const isReturned = content.charCodeAt(to - 1) === 13 && to > from
    yield { line, text: content.slice(from, isReturned ? to - 1 : to) }
    characters += to - from
    if (++lines >= LINES_BETWEEN_PAUSES || characters >= WINDOW_CHARACTERS) {
      yield undefined
      characters = 0
      lines = 0
    }
    from = to + 1
  }
}
