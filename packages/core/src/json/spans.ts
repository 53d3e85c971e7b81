/*
 * Finds the positions of values in a JSON text without parsing them: so a list of any length is read one entry at a
 * time, each by the engine's own parser, which also finds errors inside it.
 */

/** The bytes of a JSON text. */
export interface JsonBytes {
  /** -1 after the end. */
  at(place: number): number
  /** Position of the next such byte before `end`; `end` if it is missing. */
  find(byte: number, from: number, end: number): number
}

/** Bytes that are in memory as a whole. */
export function jsonBytesOf(bytes: Uint8Array): JsonBytes {
  return {
    at: (place) => bytes[place] ?? -1,
    find(byte, from, end) {
      const place = bytes.indexOf(byte, from)
      return place < 0 || place > end ? end : place
    },
  }
}

/** A range of a text, from its first byte to after its last. */
export interface Span {
  readonly from: number
  readonly to: number
}

/** The value at a range of a JSON text in memory. @throws SyntaxError */
export function parseAt(bytes: Uint8Array, { from, to }: Span): unknown {
  return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString())
}

/** The text is not valid JSON at a position. */
export class JsonFault extends Error {
  override readonly name = 'JsonFault'
  readonly place: number

  constructor(place: number) {
    super(`is not valid JSON at byte ${place}`)
    this.place = place
  }
}

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a]
export const [LIST, LIST_END, OBJECT, OBJECT_END] = [0x5b, 0x5d, 0x7b, 0x7d]

/** The next position that is not JSON white space. */
export function afterSpace(bytes: JsonBytes, from: number): number {
  for (let place = from; ; place++) {
    const byte = bytes.at(place)
    if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return place
  }
}

/**
 * The position after the value that begins at `from`; brackets are counted, not matched.
 *
 * @throws JsonFault if the text ends before it
 */
export function afterValue(bytes: JsonBytes, from: number, end: number): number {
  const first = bytes.at(from)
  if (first === QUOTE) return afterText(bytes, from, end)
  if (first !== LIST && first !== OBJECT) return afterScalar(bytes, from, end)
  return afterNested(bytes, from, end, 0)
}

/** The position after the list or object that `from` lies in, between two of its values. @throws JsonFault */
export function afterRest(bytes: JsonBytes, from: number, end: number): number {
  return afterNested(bytes, from, end, 1)
}

function afterNested(bytes: JsonBytes, from: number, end: number, depthBefore: number): number {
  let depth = depthBefore
  for (let place = from; place < end; ) {
    const byte = bytes.at(place)
    if (byte === QUOTE) {
      place = afterText(bytes, place, end)
      continue
    }
    place++
    if (byte === LIST || byte === OBJECT) depth++
    else if ((byte === LIST_END || byte === OBJECT_END) && --depth === 0) return place
  }
  throw new JsonFault(end)
}

/** Texts are long, so their ends are looked for by the engine: a quote ends one unless an odd number of backslashes precedes it. */
function afterText(bytes: JsonBytes, from: number, end: number): number {
  for (let quote = bytes.find(QUOTE, from + 1, end); quote < end; quote = bytes.find(QUOTE, quote + 1, end)) {
    let first = quote
    while (first > from + 1 && bytes.at(first - 1) === BACKSLASH) first--
    if ((quote - first) % 2 === 0) return quote + 1
  }
  throw new JsonFault(end)
}

function afterScalar(bytes: JsonBytes, from: number, end: number): number {
  let place = from
  for (; place < end; place++) {
    const byte = bytes.at(place)
    if (byte <= 0x20 || byte === COMMA || byte === COLON || byte === LIST_END || byte === OBJECT_END) break
  }
  if (place === from) throw new JsonFault(place)
  return place
}

/**
 * The entries of a list.
 *
 * @param after the end of the last entry that is known already
 * @throws JsonFault
 */
export function* entriesIn(bytes: JsonBytes, { from, to }: Span, after?: number): Generator<Span> {
  let place = after === undefined ? firstIn(bytes, from, to, LIST_END) : nextIn(bytes, after, to, LIST_END)
  while (place !== NONE) {
    const entry = { from: place, to: afterValue(bytes, place, to) }
    yield entry
    place = nextIn(bytes, entry.to, to, LIST_END)
  }
}

/**
 * The fields of an object: the positions of each name and its value.
 *
 * @param after the end of the last value that is known already
 * @throws JsonFault
 */
export function* fieldsIn(
  bytes: JsonBytes,
  { from, to }: Span,
  after?: number,
): Generator<{ readonly name: Span; readonly value: Span }> {
  let place = after === undefined ? firstIn(bytes, from, to, OBJECT_END) : nextIn(bytes, after, to, OBJECT_END)
  while (place !== NONE) {
    if (place >= to || bytes.at(place) !== QUOTE) throw new JsonFault(Math.min(place, to))
    const name = { from: place, to: afterText(bytes, place, to) }
    const colon = afterSpace(bytes, name.to)
    if (colon >= to || bytes.at(colon) !== COLON) throw new JsonFault(Math.min(colon, to))
    const begin = afterSpace(bytes, colon + 1)
    const value = { from: begin, to: afterValue(bytes, begin, to) }
    yield { name, value }
    place = nextIn(bytes, value.to, to, OBJECT_END)
  }
}

/**
 * The position of the value at a path of names of fields and positions in lists. Of fields with one name the last one holds, as
 * for the engine's parser.
 *
 * @returns null if there is no such value
 * @throws JsonFault
 */
export function valueAt(bytes: JsonBytes, value: Span, path: readonly (string | number)[]): Span | null {
  let found: Span | null = value
  for (const step of path) {
    if (found === null) return null
    found = typeof step === 'number' ? entryAt(bytes, found, step) : fieldAt(bytes, found, step)
  }
  return found
}

function entryAt(bytes: JsonBytes, list: Span, position: number): Span | null {
  if (bytes.at(list.from) !== LIST) return null
  let left = position
  for (const entry of entriesIn(bytes, list)) if (left-- === 0) return entry
  return null
}

function fieldAt(bytes: JsonBytes, object: Span, wanted: string): Span | null {
  if (bytes.at(object.from) !== OBJECT) return null
  let found: Span | null = null
  for (const { name, value } of fieldsIn(bytes, object)) if (isText(bytes, name, wanted)) found = value
  return found
}

/** Whether a quoted text says the same as another one, however it is spelled. */
function isText(bytes: JsonBytes, { from, to }: Span, wanted: string): boolean {
  let quoted = ''
  for (let place = from; place < to; place++) quoted += String.fromCharCode(bytes.at(place))
  return quoted === `"${wanted}"` || (quoted.includes('\\') && JSON.parse(quoted) === wanted)
}

const NONE = -1

/** The position of the first part of a list or object; NONE if it is empty. */
function firstIn(bytes: JsonBytes, from: number, to: number, end: number): number {
  const place = afterSpace(bytes, from + 1)
  if (place >= to || bytes.at(place) !== end) return place
  return checkEnd(place + 1, to)
}

/** The position of the part after one that ends at `after`; NONE if that was the last one. */
function nextIn(bytes: JsonBytes, after: number, to: number, end: number): number {
  const place = afterSpace(bytes, after)
  const byte = bytes.at(place)
  if (place < to && byte === end) return checkEnd(place + 1, to)
  if (place >= to || byte !== COMMA) throw new JsonFault(Math.min(place, to))
  return afterSpace(bytes, place + 1)
}

function checkEnd(place: number, to: number): typeof NONE {
  if (place !== to) throw new JsonFault(place)
  return NONE
}
