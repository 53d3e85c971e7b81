import { cuesOf } from '../speech/cues.js'
import { sentencesOf } from '../speech/sentences.js'
import type { SummaryRequest } from '../speech/source.js'
import { countTokens } from '../tokens/tokens.js'
import { oneLine, truncate } from '../tools/lines.js'
import { cutSummary, emptyNote, isEmptyNote, joinEmpty, readEmptyNote } from './empty-note.js'
import { EMPTY_OUTPUT } from './progress-request.js'

/**
 * The sections of a summary (docs/iterations.md#the-summary), in order; `share` is reserved for a section before all
 * compete for the rest.
 */
const parts = [
  { name: 'decisions', heading: 'Key decisions', share: 0.25, like: /decision|chose|finding/i },
  { name: 'worked', heading: 'Working approaches', share: 0.2, like: /work|accomplish|done|fact/i },
  { name: 'failed', heading: 'Failed approaches', share: 0.2, like: /fail|error|problem/i },
  { name: 'state', heading: 'Current state', share: 0.2, like: /state|status|progress/i },
  { name: 'next', heading: 'Next steps', share: 0.15, like: /next|todo|open|pending|question/i },
] as const
type PartName = (typeof parts)[number]['name']

interface Line {
  readonly part: PartName
  readonly text: string
  /** The iteration of the line; null for lines of an earlier summary, which name their own. */
  readonly iteration: number | null
  /** Chronological position. */
  readonly place: number
  readonly score: number
  /** Whether an agent reported it as progress, or a summary did; other lines may come from a log. */
  readonly isTold: boolean
}

const LINE_CHARACTERS_MAX = 300
const LINES_MAX = 2_000

/**
 * A progress summary without a model: progress that agents reported in `<progress>` comes first, then sentences about
 * decisions, successes, failures, the state, and next steps. A repeated line is kept once, at its last occurrence.
 * Iterations without output are noted.
 *
 * The same request gives the same summary, in at most `tokensMax` tokens; empty only if there is nothing to summarize.
 */
export function summarizeProgressExtractively({ messages, previousSummary, tokensMax }: SummaryRequest): string {
  const earlier = readEarlier(previousSummary ?? '')
  const said = messages.flatMap(({ text }, index) => linesOf(text, earlier.length + index * 100))
  const empty = joinEmpty(
    readEmptyNote(previousSummary ?? ''),
    messages.flatMap(({ text }) => emptyNumber(text)),
  )
  const lines = latestOfEach([...earlier, ...said]).slice(-LINES_MAX)
  const note = emptyNote(empty, tokensMax)
  const room = tokensMax - (note === '' ? 0 : countTokens(note) + 2)
  const chosen = render(choose(lines, room))
  const text = [chosen, note].filter((block) => block !== '').join('\n\n')
  const newest = lines.at(-1)
  const whole =
    chosen === '' && newest !== undefined ? [formatLine(newest), note].filter((block) => block !== '').join('\n') : text
  // A character may take three tokens; the truncation mark takes one.
  return cutSummary(whole, tokensMax, countTokens) || (whole === '' ? '' : '…')
}

function linesOf(text: string, place: number): Line[] {
  const number = numberOf(text)
  const output = outputOf(text)
  if (output === null) return []
  const told = [...output.matchAll(/<progress>([\s\S]{1,4000}?)<\/progress>/gi)].map(([, inner = '']) => inner)
  const rest = output.replace(/<(progress|promise)>[\s\S]{0,4000}?<\/\1>/gi, '\n')
  const lines = [
    ...told.flatMap((inner) => statements(inner)).map((sentence) => toLine(sentence, number, true)),
    ...statements(rest).map((sentence) => toLine(sentence, number, false)),
  ].flatMap((line) => line ?? [])
  const found = lines.length > 0 ? lines : fallback(output, number)
  return found.map((line, index) => ({ ...line, place: place + Math.min(index, 99) }))
}

function statements(text: string): string[] {
  return sentencesOf(text).map((sentence) => truncate(sentence, LINE_CHARACTERS_MAX))
}

/** The section and weight of a sentence; null if it says too little. */
function toLine(sentence: string, iteration: number | null, isTold: boolean): Omit<Line, 'place'> | null {
  const cues = cuesOf(sentence)
  if (!isTold && (cues.filler || cues.nod || sentence.length < 12 || isPassing(sentence))) return null
  const weight = Math.min(cues.details, 6) * 0.5 + (isTold ? 6 : 0)
  const line = (part: PartName, score: number) => ({ part, text: sentence, iteration, isTold, score: score + weight })
  if (cues.open || /\b(?:next|need to|needs to|pending|to do|remaining)\b/i.test(sentence)) return line('next', 3)
  if (cues.problem && !cues.resolution) return line('failed', 4)
  if (/\b(?:revert(?:ed)?|did ?n[o']t work|gave up|abandon(?:ed)?|caused issues?)\b/i.test(sentence)) {
    return line('failed', 4)
  }
  if (cues.decision) return line('decisions', 4)
  if (cues.resolution || /\b(?:works?|working|using|pass(?:es|ed)?)\b/i.test(sentence)) return line('worked', 3)
  if (cues.state || isTold) return line('state', 3)
  const isStatement = sentence.endsWith('.') && sentence.split(' ').length >= 5
  return cues.details >= 2 || isStatement ? line('state', isStatement ? 0 : -1) : null
}

const DEBUG_OUTPUT = /^\[?(?:debug|trace)\b|^(?:console\.(?:log|debug)|print|printf)\(/i
const DEBUGGING =
  /\b(?:temporar(?:y|ily)|debug(?:ging)?) (?:prints?|log(?:s|ging)?|statements?|output|debug(?:ging)?)\b/i
const DIFF_LINE = /^(?:@@ |diff --git |\+\+\+ |--- |index [0-9a-f]{7})/

/** Debugging output, reports of temporary debugging, and lines of a diff, whose code is in the files. */
function isPassing(sentence: string): boolean {
  return DEBUG_OUTPUT.test(sentence) || DEBUGGING.test(sentence) || DIFF_LINE.test(sentence)
}

/** An iteration without a report of progress is represented by the beginning of its output. */
function fallback(output: string, iteration: number | null): Omit<Line, 'place'>[] {
  const text = truncate(oneLine(output.replace(/<\/?(?:progress|promise)>/gi, ' '), 400), 160)
  return text === '' ? [] : [{ part: 'state', text, iteration, isTold: false, score: 1 }]
}

function numberOf(text: string): number | null {
  const number = /^## Iteration (\d{1,10})\b/.exec(text)?.[1]
  return number === undefined ? null : Number(number)
}

/** The output of a formatted iteration; null if it is empty. */
function outputOf(text: string): string | null {
  const start = text.indexOf('\nOutput:\n')
  const output = start < 0 ? text : text.slice(start + '\nOutput:\n'.length)
  return output === EMPTY_OUTPUT || output.trim() === '' ? null : output
}

function emptyNumber(text: string): number[] {
  return outputOf(text) === null ? [numberOf(text) ?? 0] : []
}

const HEADING = /^\s*(?:#{1,6}\s+|\*\*)(.{1,80}?)\**:?\s*$/
/** Longer than any heading. */
const HEADING_CHARACTERS_READ = 400

/** The lines of an earlier summary under its headings; lines under unknown headings count as state. */
function readEarlier(summary: string): Line[] {
  const lines: Line[] = []
  let part: PartName = 'state'
  for (const rawLine of summary.split('\n').slice(0, LINES_MAX)) {
    const heading = HEADING.exec(rawLine.slice(0, HEADING_CHARACTERS_READ))?.[1]
    const text = truncate(oneLine(rawLine).replace(/^(?:[-*+•]|\d{1,3}[.)])\s+/, ''), LINE_CHARACTERS_MAX + 40)
    if (heading !== undefined) part = parts.find(({ like }) => like.test(heading))?.name ?? 'state'
    else if (text !== '' && !isEmptyNote(text))
      lines.push({ part, text, iteration: null, isTold: true, place: lines.length, score: 5 })
  }
  return lines
}

/** Repeated lines are kept at their last occurrence. */
function latestOfEach(lines: readonly Line[]): Line[] {
  const latest = new Map<string, Line>()
  for (const line of lines) {
    const key = `${line.part} ${plain(line)}`
    latest.delete(key)
    latest.set(key, line)
  }
  return [...latest.values()]
}

/**
 * A key for repeats: error messages and log lines repeat with other numbers. Completed steps with other numbers are
 * distinct.
 */
function plain({ part, text, isTold }: Line): string {
  const said = text.replace(/ \(iteration \d+\)$/, '').toLowerCase()
  return said.replace(part === 'failed' || !isTold ? /[^\p{L}]+/gu : /[^\p{L}\p{N}]+/gu, ' ')
}

/** Each section takes its best lines up to its share, then the best of the rest; newer lines weigh more. */
function choose(lines: readonly Line[], tokensMax: number): Line[] {
  const chosen = new Set<Line>()
  const newest = Math.max(1, ...lines.map(({ place }) => place))
  const weightOf = ({ score, place }: Line) => score + 4 * (place / newest)
  const ranked = [...lines].sort((left, right) => weightOf(right) - weightOf(left) || right.place - left.place)
  let left = tokensMax
  const opened = new Set<PartName>()
  const take = (line: Line, room: number): number => {
    const cost = countTokens(formatLine(line)) + 1 + (opened.has(line.part) ? 0 : HEADING_TOKENS)
    if (cost > room || cost > left) return 0
    chosen.add(line)
    opened.add(line.part)
    left -= cost
    return cost
  }
  for (const { name, share } of parts) {
    let room = Math.floor(tokensMax * share)
    for (const line of ranked) if (line.part === name && room > 0) room -= take(line, room)
  }
  for (const line of ranked) if (left > HEADING_TOKENS && !chosen.has(line)) take(line, left)
  return [...chosen].sort((one, other) => one.place - other.place)
}

/** Upper bound for a heading with its line breaks. */
const HEADING_TOKENS = 8

function render(lines: readonly Line[]): string {
  return parts
    .flatMap(({ name, heading }) => {
      const own = lines.filter(({ part }) => part === name)
      return own.length === 0 ? [] : [[`## ${heading}`, ...own.map(formatLine)].join('\n')]
    })
    .join('\n\n')
}

function formatLine({ text, iteration }: Line): string {
  return iteration === null ? `- ${text}` : `- ${text} (iteration ${iteration})`
}
