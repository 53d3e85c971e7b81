import { countTokens } from '../tokens/tokens.js'
import { prefixWithin } from './cut.js'

/** Iterations without output, of which a summary names the newest. */
export interface EmptyIterations {
  /** Their numbers, ascending. */
  readonly numbers: readonly number[]
  /** Number of further ones before them. */
  readonly before: number
}

const LINE = 'Iterations without output: '
/** Numbers that are named; older ones are only counted. */
const NUMBERS_MAX = 20

/** Whether a line of a summary is its note about iterations without output. */
export function isEmptyNote(line: string): boolean {
  return line.startsWith(LINE)
}

/** Reads the note of an earlier summary; without a note no iteration was empty. */
export function readEmptyNote(summary: string): EmptyIterations {
  const line = summary.split('\n').find(isEmptyNote) ?? LINE
  const before = Number(/\b(\d{1,9}) (?:before|in all)$/.exec(line)?.[1] ?? 0)
  const named = line.slice(LINE.length).replace(/(?:and )?\b\d{1,9} (?:before|in all)$/, '')
  return { numbers: [...named.matchAll(/\d{1,10}/g)].map(([digits]) => Number(digits)), before }
}

/** The numbers of several notes together, each once. */
export function joinEmpty(earlier: EmptyIterations, numbers: readonly number[]): EmptyIterations {
  const all = [...new Set([...earlier.numbers, ...numbers])].sort((left, right) => left - right)
  return { numbers: all, before: earlier.before }
}

/** The note, in at most half of the tokens of its summary: numbers that do not fit are counted. Empty without numbers. */
export function emptyNote({ numbers, before }: EmptyIterations, tokensMax: number): string {
  const total = numbers.length + before
  if (total === 0) return ''
  for (let named = Math.min(NUMBERS_MAX, numbers.length); named > 0; named = Math.floor(named / 2)) {
    const rest = total - named
    const note = `${LINE}${numbers.slice(-named).join(', ')}${rest === 0 ? '' : ` and ${rest} before`}`
    if (countTokens(note) <= tokensMax / 2) return note
  }
  return `${LINE}${total} in all`
}

/**
 * A summary with its note about iterations without output, whoever wrote it: a model may omit it. The text before the
 * note is cut where both are too long.
 */
export function withEmptyNote(summary: string, empty: EmptyIterations, tokensMax: number): string {
  const note = emptyNote(empty, tokensMax)
  const text = summary
    .split('\n')
    .filter((line) => !isEmptyNote(line))
    .join('\n')
    .trim()
  if (note === '') return text
  const whole = text === '' ? note : `${text}\n\n${note}`
  if (countTokens(whole) <= tokensMax) return whole
  return `${prefixWithin(text, Math.max(0, tokensMax - countTokens(note) - 2), countTokens).trimEnd()}\n\n${note}`.trim()
}

/** A summary cut to fewer tokens, which keeps its note. */
export function cutSummary(summary: string, tokensMax: number, count: (text: string) => number): string {
  if (count(summary) <= tokensMax) return summary
  const empty = readEmptyNote(summary)
  const note = emptyNote(empty, tokensMax)
  if (note === '') return prefixWithin(summary, tokensMax, count)
  const left = tokensMax - count(note) - 2
  if (left <= 0) return prefixWithin(note, tokensMax, count)
  const text = summary
    .split('\n')
    .filter((line) => !isEmptyNote(line))
    .join('\n')
  return `${prefixWithin(text.trimEnd(), left, count).trimEnd()}\n\n${note}`
}
