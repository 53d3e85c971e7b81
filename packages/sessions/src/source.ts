import { isJsonObject, type Json } from '@heddle/client/forms'
import { describeReceived, PermanentError, validationError } from '@heddle/contracts'
import { afterSpace, afterValue, entriesIn, JsonFault, LIST, OBJECT, type Span } from '@heddle/core'
import { type ByteSource, ByteWindow, LINE_FEED } from './byte-source.js'
import { decode, type Entry, INLINE_BYTES_MAX, LISTS, readEntry } from './entry.js'

/**
 * A file is one JSON document, an object or a list, or one JSON object per line. It is read again for each use, and
 * never loaded as a whole.
 */
export interface Source {
  readonly kind: 'lines' | 'list' | 'object'
  /**
   * All entries of the file, in order. An incomplete last line is left out, because the session may still be written.
   *
   * @throws PermanentError `VALIDATION_ERROR` naming the broken line, `PAYLOAD_TOO_LARGE` naming the entry
   */
  entries(): Generator<Entry>
  /** An entry that was read before. */
  again(entry: Pick<Entry, 'place' | 'span'>): Entry
  /** Whether an incomplete last line was left out; valid after everything was read. */
  isUnfinished: boolean
}

/** @throws PermanentError `VALIDATION_ERROR` for an empty file, or naming the broken line */
export function readSource(source: ByteSource): Source {
  const bytes = new ByteWindow(source)
  const lines = linesIn(bytes)
  const first = lines.next().value
  if (first === undefined) throw validationError('file', 'is empty', '', 'Give a file that holds a recorded session.')
  const kind = kindOfLine(bytes, first)
  if (kind === 'broken') return documentIn(bytes, first, 'file')
  if (kind === 'document' && lines.next().done === true) return documentIn(bytes, first, 'line 1')
  return linesOf(bytes)
}

/** The range of a non-blank line, without its line break. */
interface LineSpan extends Span {
  readonly number: number
}

function* linesIn(bytes: ByteWindow): Generator<LineSpan, undefined> {
  const { size } = bytes.source
  const hasMark = bytes.at(0) === 0xef && bytes.at(1) === 0xbb && bytes.at(2) === 0xbf
  let number = 1
  for (let from = hasMark ? 3 : 0; from < size; number++) {
    const to = bytes.find(LINE_FEED, from, size)
    if (!isBlank(bytes, { from, to })) yield { from, to, number }
    from = to + 1
  }
}

function isBlank(bytes: ByteWindow, { from, to }: Span): boolean {
  if (afterSpace(bytes, from) >= to) return true
  if (to - from > INLINE_BYTES_MAX || bytes.at(from) === LIST || bytes.at(from) === OBJECT) return false
  return textOf(bytes, { from, to }).trim() === ''
}

/** Whether a line is a JSON value, and one that could be a whole file. */
function kindOfLine(bytes: ByteWindow, line: LineSpan): 'broken' | 'document' | 'record' {
  try {
    const { value, list } = lineEntry(bytes, line)
    return Array.isArray(value) || LISTS.some((name) => list(name) !== null) ? 'document' : 'record'
  } catch (error) {
    if (error instanceof JsonFault) return 'broken'
    // The line is named when it is read as a record.
    if (error instanceof PermanentError) return 'record'
    throw error
  }
}

function lineEntry(bytes: ByteWindow, line: LineSpan): Entry {
  const place = `line ${line.number}`
  const at = { place, prefix: `${place}: `, nestingPlace: place }
  if (line.to - line.from <= INLINE_BYTES_MAX) return readEntry(bytes, line, at)
  const from = afterSpace(bytes, line.from)
  const to = afterValue(bytes, from, line.to)
  if (afterSpace(bytes, to) < line.to) throw new JsonFault(to)
  // A document on one line is read entry by entry; nothing else that begins like this is a record.
  if (bytes.at(from) === LIST) return { ...at, span: line, value: [], list: () => null }
  return readEntry(bytes, { from, to }, at)
}

function linesOf(bytes: ByteWindow): Source {
  return {
    kind: 'lines',
    isUnfinished: false,
    *entries() {
      for (const line of linesIn(bytes)) {
        try {
          yield checked(lineEntry(bytes, line), line, bytes)
        } catch (error) {
          if (!(error instanceof JsonFault)) throw error
          const isLast = line.to === bytes.source.size
          if (!isLast || bytes.at(afterSpace(bytes, line.from)) !== OBJECT) throw brokenLine(bytes, line)
          this.isUnfinished = true
        }
      }
    },
    again: ({ place, span }) => readEntry(bytes, span, { place, prefix: `${place}: `, nestingPlace: place }),
  }
}

/** Lists of a line are read later by the caller: faults in them must also name the line. */
function checked(entry: Entry, line: LineSpan, bytes: ByteWindow): Entry {
  if (!isJsonObject(entry.value)) throw validationError(entry.place, 'must be a JSON object', entry.value)
  return namingFaults(entry, () => brokenLine(bytes, line))
}

function namingFaults(entry: Entry, named: (fault: JsonFault) => PermanentError): Entry {
  return {
    ...entry,
    list(name) {
      const list = entry.list(name)
      return list === null || Array.isArray(list) ? list : rethrowing(list, named)
    },
  }
}

function* rethrowing<T>(items: Iterable<T>, named: (fault: JsonFault) => PermanentError): Generator<T, undefined> {
  try {
    yield* items
  } catch (error) {
    throw error instanceof JsonFault ? named(error) : error
  }
}

/** @param nestingPlace named in the error for values nested too deeply */
function documentIn(bytes: ByteWindow, first: LineSpan, nestingPlace: string): Source {
  const { size } = bytes.source
  const from = afterSpace(bytes, first.from)
  const to = lastOf(bytes, from)
  const kind = bytes.at(from) === LIST ? 'list' : 'object'
  const named = (fault: JsonFault) => brokenDocument(bytes, first, fault.place >= to ? size : fault.place)
  if (kind === 'object' && bytes.at(from) !== OBJECT) throw named(new JsonFault(from))
  const read = (span: Span, index: number | null) => {
    const at = index === null ? { place: 'file', prefix: '' } : { place: String(index), prefix: `${index}.` }
    return namingFaults(readEntry(bytes, span, { ...at, nestingPlace }), named)
  }
  function* entries(): Generator<Entry, undefined> {
    if (kind === 'object') yield read({ from, to }, null)
    else {
      let index = 0
      for (const span of entriesIn(bytes, { from, to })) yield read(span, index++)
    }
  }
  return {
    kind,
    isUnfinished: false,
    entries: () => rethrowing(entries(), named),
    again: ({ place, span }) => read(span, kind === 'object' ? null : Number(place)),
  }
}

/** The position after the last byte that is not white space. */
function lastOf(bytes: ByteWindow, from: number): number {
  let to = bytes.source.size
  while (to > from && [0x20, 0x0a, 0x0d, 0x09].includes(bytes.at(to - 1))) to--
  return to
}

/**
 * The error for a file whose first line is not JSON: one document over many lines, or lines of which the first is
 * broken.
 */
function brokenDocument(bytes: ByteWindow, first: LineSpan, place: number): PermanentError {
  const byte = bytes.at(afterSpace(bytes, first.from))
  if ((byte !== LIST && byte !== OBJECT) || isFollowedByLines(bytes)) return brokenLine(bytes, first)
  return brokenJson(`line ${bytes.lineAt(place)}`, charactersIn(bytes, { from: 0, to: bytes.source.size }))
}

function isFollowedByLines(bytes: ByteWindow): boolean {
  let count = 0
  for (const line of linesIn(bytes)) {
    if (count > 0 && line.to - line.from <= INLINE_BYTES_MAX && isJsonObject(parsed(textOf(bytes, line)))) return true
    if (++count > 3) break
  }
  return false
}

function brokenLine(bytes: ByteWindow, line: LineSpan): PermanentError {
  return brokenJson(`line ${line.number}`, charactersIn(bytes, line))
}

function brokenJson(place: string, characters: number): PermanentError {
  return new PermanentError(
    'VALIDATION_ERROR',
    `${place}: is not valid JSON (received a text of ${characters} characters)`,
    {
      field: place,
      received: `a text of ${characters} characters`,
      hint: 'Only an incomplete last line after complete ones is ignored, since a session may still be written: this file is broken.',
    },
  )
}

function charactersIn(bytes: ByteWindow, { from, to }: Span): number {
  const decoder = new TextDecoder()
  let characters = 0
  for (let at = from; at < to; at += INLINE_BYTES_MAX) {
    const part = bytes.read(at, Math.min(to, at + INLINE_BYTES_MAX))
    characters += decoder.decode(part, { stream: true }).length
  }
  return characters
}

function textOf(bytes: ByteWindow, { from, to }: Span): string {
  return decode(bytes.read(from, to), { isCutOff: to === bytes.source.size })
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Describes a value's structure for errors: its keys, never its contents. */
export function describeShape(value: Json): string {
  if (!isJsonObject(value)) return describeReceived(Array.isArray(value) ? value : undefined)
  const keys = Object.keys(value)
    .slice(0, 8)
    .map((key) => key.slice(0, 40))
  return `an object with the keys ${keys.join(', ') || '(none)'}`
}
