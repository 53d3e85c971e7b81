import { describeReceived, PermanentError, validationError } from '@heddle/contracts'
import { isJsonObject, type Json, type JsonObject } from './json.js'

export interface SourceRecord {
  /** Where it stands in the file, for errors: `line 12`, `messages.3`. */
  place: string
  value: JsonObject
}

/** A file is one JSON document, or one JSON object a line; `isUnfinished` where half a last line was left out. */
export type Source =
  | { kind: 'document'; value: Json }
  | { kind: 'lines'; records: SourceRecord[]; isUnfinished: boolean }

/** Deeper than any session's records; values far deeper overflow the stack of whoever reads or writes them. */
const NESTING_MAX = 200
/** Keys of which one marks a document that holds a whole conversation. */
const DOCUMENT_KEYS = ['messages', 'traj', 'history']

/**
 * Half a last line is left out: the session is still being written.
 *
 * @throws PermanentError `VALIDATION_ERROR` for an empty file, or naming the line that is broken
 */
export function readSource(fileText: string): Source {
  const text = fileText.startsWith('\ufeff') ? fileText.slice(1) : fileText
  const allLines = text.split('\n')
  const lines = allLines.flatMap((line, index) => (line.trim() === '' ? [] : [{ line, number: index + 1 }]))
  const [first] = lines
  if (first === undefined) throw validationError('file', 'is empty', '', 'Give a file that holds a recorded session.')
  const firstValue = parseJson(first.line)
  if (firstValue === undefined) return readDocument(text, lines)
  if (lines.length === 1 && isDocument(firstValue)) return { kind: 'document', value: fitting('line 1', firstValue) }
  const last = lines.at(-1)
  const isUnfinished = last !== undefined && last.number === allLines.length && isHalfObject(last.line)
  const whole = isUnfinished ? lines.slice(0, -1) : lines
  return { kind: 'lines', records: whole.map(({ line, number }) => readLine(line, number)), isUnfinished }
}

/** The entries of a list as records. */
export function recordsOf(list: readonly Json[], placeOf: (index: number) => string): SourceRecord[] {
  return list.map((value, index) => {
    if (!isJsonObject(value)) throw validationError(placeOf(index), 'must be a JSON object', value)
    return { place: placeOf(index), value }
  })
}

function isDocument(value: Json): boolean {
  return Array.isArray(value) || (isJsonObject(value) && DOCUMENT_KEYS.some((key) => Array.isArray(value[key])))
}

function isHalfObject(line: string): boolean {
  return line.trimStart().startsWith('{') && parseJson(line) === undefined
}

function readLine(line: string, number: number): SourceRecord {
  const place = `line ${number}`
  const value = parseJson(line)
  if (value === undefined) throw brokenJson(place, line)
  if (!isJsonObject(value)) throw validationError(place, 'must be a JSON object', value)
  return { place, value: fitting(place, value) }
}

/** A file whose first line is no JSON: one document over many lines, or lines of which the first is broken. */
function readDocument(text: string, lines: readonly { line: string; number: number }[]): Source {
  try {
    return { kind: 'document', value: fitting('file', JSON.parse(text)) }
  } catch (error) {
    if (error instanceof PermanentError) throw error
    const [first] = lines
    const isLines = lines.slice(1, 4).some(({ line }) => isJsonObject(parseJson(line)))
    if (first !== undefined && (isLines || !/^\s*[[{]/.test(first.line)))
      throw brokenJson(`line ${first.number}`, first.line)
    throw brokenJson(`line ${lineOfFault(text, error)}`, text)
  }
}

function brokenJson(place: string, received: string): PermanentError {
  return new PermanentError(
    'VALIDATION_ERROR',
    `${place}: is not valid JSON (received a text of ${received.length} characters)`,
    {
      field: place,
      received: `a text of ${received.length} characters`,
      hint: 'Only half a last line after whole ones is left out, as of a session still being written: this is a broken file.',
    },
  )
}

/** Engines tell the offset of a fault in their message, or that the text ended too soon. */
function lineOfFault(text: string, error: unknown): number {
  const offset = /at position (\d+)/.exec(error instanceof Error ? error.message : '')?.[1]
  return text.slice(0, offset === undefined ? text.length : Number(offset)).split('\n').length
}

function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function fitting<Value extends Json>(place: string, value: Value): Value {
  let level: Json[] = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > NESTING_MAX) throw validationError(place, `must nest at most ${NESTING_MAX} levels deep`, value)
    level = level.flatMap((entry) => (typeof entry === 'object' && entry !== null ? Object.values(entry) : []))
  }
  return value
}

/** What a value looks like from outside, for errors: its keys, never its contents. */
export function describeShape(value: Json): string {
  if (!isJsonObject(value)) return describeReceived(Array.isArray(value) ? value : undefined)
  const keys = Object.keys(value)
    .slice(0, 8)
    .map((key) => key.slice(0, 40))
  return `an object with the keys ${keys.join(', ') || '(none)'}`
}
