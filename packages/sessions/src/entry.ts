import { isJsonObject, type Json, type JsonObject } from '@heddle/client/forms'
import { limits, PermanentError, validationError } from '@heddle/contracts'
import { entriesIn, fieldsIn, JsonFault, LIST, OBJECT, type Span } from '@heddle/core'
import type { ByteWindow } from './byte-source.js'

/** A line of a file, an entry of its list, or the whole file. */
export interface Entry {
  place: string
  /** Prefix of the places of its parts: `line 3: `. */
  prefix: string
  span: Span
  /** Without fields that are too large for memory; those that are lists can still be read by {@link list}. */
  value: Json
  /** The entries of a field that is a list, from its beginning each time; null for any other field. */
  list(name: string): Iterable<Json> | null
}

/** A list in one of these fields marks an object that is a whole conversation. */
export const LISTS = ['messages', 'traj', 'history']
/** Larger entries are scanned for lists before they are read. */
export const INLINE_BYTES_MAX = 1_024 * 1_024
/** Maximum size of an entry that is not a conversation and must fit in memory: the largest message. */
const VALUE_BYTES_MAX = limits.messageJsonCharactersMax
/** Deeper than any session's records; far deeper values overflow the stack when they are read or written. */
const NESTING_MAX = 200

export interface EntryPlace {
  readonly place: string
  readonly prefix: string
  /** Named in the error for a value that is nested too deeply. */
  readonly nestingPlace: string
}

/** @throws JsonFault, PermanentError `PAYLOAD_TOO_LARGE` or `VALIDATION_ERROR` that names the place */
export function readEntry(bytes: ByteWindow, span: Span, at: EntryPlace): Entry {
  const { place, prefix, nestingPlace } = at
  const lists = span.to - span.from > INLINE_BYTES_MAX ? largeLists(bytes, span) : null
  if (lists === null) {
    const value = fitting(nestingPlace, parseSpan(bytes, span, place))
    const list = (name: string) => (isJsonObject(value) && Array.isArray(value[name]) ? value[name] : null)
    return { place, prefix, span, value, list }
  }
  const { value } = lists
  return {
    place,
    prefix,
    span,
    value: fitting(nestingPlace, value),
    list(name) {
      const large = lists.spans.get(name)
      if (large !== undefined) return readList(bytes, large, `${prefix}${name}`, nestingPlace)
      return Array.isArray(value[name]) ? value[name] : null
    },
  }
}

function* readList(bytes: ByteWindow, span: Span, name: string, nestingPlace: string): Generator<Json> {
  let index = 0
  for (const entry of entriesIn(bytes, span)) {
    yield fitting(nestingPlace, parseSpan(bytes, entry, `${name}.${index}`))
    index++
  }
}

/**
 * For an object with a list of messages, its small fields and the positions of its large lists; null for anything else.
 */
function largeLists(bytes: ByteWindow, span: Span): { value: JsonObject; spans: Map<string, Span> } | null {
  if (bytes.at(span.from) !== OBJECT) return null
  const fields = new Map<string, Span>()
  // Of duplicate names the last one counts.
  for (const { name, value } of fieldsIn(bytes, span)) fields.set(String(parseSpan(bytes, name, '')), value)
  const isList = (field: Span | undefined) => field !== undefined && bytes.at(field.from) === LIST
  if (!LISTS.some((name) => isList(fields.get(name)))) return null
  const small: [string, Json][] = []
  const spans = new Map<string, Span>()
  for (const [name, field] of fields) {
    if (field.to - field.from <= INLINE_BYTES_MAX || name === 'system')
      small.push([name, parseSpan(bytes, field, name)])
    else if (LISTS.includes(name) && isList(field)) spans.set(name, field)
    else check(bytes, field)
  }
  return { value: Object.fromEntries(small), spans }
}

/** Validates a field that is not needed, so that a broken file is detected. A large text in it is not read. */
function check(bytes: ByteWindow, span: Span): void {
  if (span.to - span.from <= INLINE_BYTES_MAX) parseSpan(bytes, span, '')
  else if (bytes.at(span.from) === LIST) for (const entry of entriesIn(bytes, span)) check(bytes, entry)
  else if (bytes.at(span.from) === OBJECT) for (const { value } of fieldsIn(bytes, span)) check(bytes, value)
}

export function parseSpan(bytes: ByteWindow, { from, to }: Span, place: string): Json {
  if (to - from > VALUE_BYTES_MAX) {
    throw new PermanentError('PAYLOAD_TOO_LARGE', `${place}: has ${to - from} bytes`, {
      field: place,
      received: `${to - from} bytes`,
      hint: `A message may have ${VALUE_BYTES_MAX} bytes as JSON: keep large attachments elsewhere, and their addresses in the metadata.`,
    })
  }
  const text = decode(bytes.read(from, to), { isCutOff: to === bytes.source.size })
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new JsonFault(from + faultOffset(text, error))
  }
}

/** @throws TypeError `ERR_ENCODING_INVALID_ENCODED_DATA` for invalid UTF-8 */
export function decode(bytes: Uint8Array, { isCutOff }: { isCutOff: boolean }): string {
  // Streaming mode permits an incomplete end: a file being written may end within a character.
  return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: isCutOff })
}

/** Engines report the offset of a fault in their message, or that the text ended too soon. */
function faultOffset(text: string, error: unknown): number {
  const message = error instanceof Error ? error.message : ''
  const offset = /at position (\d+)/.exec(message)?.[1]
  if (offset !== undefined) return Buffer.byteLength(text.slice(0, Number(offset)))
  return /end of/.test(message) ? Buffer.byteLength(text) : 0
}

function fitting<Value extends Json>(place: string, value: Value): Value {
  let level: Json[] = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > NESTING_MAX) throw validationError(place, `must nest at most ${NESTING_MAX} levels deep`, value)
    level = level.flatMap((entry) => (typeof entry === 'object' && entry !== null ? Object.values(entry) : []))
  }
  return value
}
