import type { ByteWindow } from './byte-source.js'

/*
 * Finds the positions of values in a JSON text without parsing them: so a list of any length is read one entry at a
 * time, each by the engine's own parser, which also finds errors inside it.
 */

/** A range of a text, from its first byte to after its last. */
export interface Span {
  readonly from: number
  readonly to: number
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
export function afterSpace(bytes: ByteWindow, from: number): number {
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
export function afterValue(bytes: ByteWindow, from: number, end: number): number {
  const first = bytes.at(from)
  if (first === QUOTE) return afterText(bytes, from, end)
  if (first !== LIST && first !== OBJECT) return afterScalar(bytes, from, end)
  let depth = 0
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

function afterText(bytes: ByteWindow, from: number, end: number): number {
  for (let place = from + 1; place < end; place++) {
    const byte = bytes.at(place)
    if (byte === BACKSLASH) place++
    else if (byte === QUOTE) return place + 1
  }
  throw new JsonFault(end)
}

function afterScalar(bytes: ByteWindow, from: number, end: number): number {
  let place = from
  for (; place < end; place++) {
    const byte = bytes.at(place)
    if (byte <= 0x20 || byte === COMMA || byte === COLON || byte === LIST_END || byte === OBJECT_END) break
  }
  if (place === from) throw new JsonFault(place)
  return place
}

/** The entries of a list. @throws JsonFault */
export function* entriesIn(bytes: ByteWindow, { from, to }: Span): Generator<Span> {
  let place = afterSpace(bytes, from + 1)
  if (place < to && bytes.at(place) === LIST_END) return checkEnd(place + 1, to)
  for (;;) {
    const end = afterValue(bytes, place, to)
    yield { from: place, to: end }
    place = afterSpace(bytes, end)
    const byte = bytes.at(place)
    if (place < to && byte === LIST_END) return checkEnd(place + 1, to)
    if (place >= to || byte !== COMMA) throw new JsonFault(Math.min(place, to))
    place = afterSpace(bytes, place + 1)
  }
}

/** The fields of an object: the positions of each name and its value. @throws JsonFault */
export function* fieldsIn(bytes: ByteWindow, { from, to }: Span): Generator<{ name: Span; value: Span }> {
  let place = afterSpace(bytes, from + 1)
  if (place < to && bytes.at(place) === OBJECT_END) return checkEnd(place + 1, to)
  for (;;) {
    if (place >= to || bytes.at(place) !== QUOTE) throw new JsonFault(Math.min(place, to))
    const name = { from: place, to: afterText(bytes, place, to) }
    const colon = afterSpace(bytes, name.to)
    if (colon >= to || bytes.at(colon) !== COLON) throw new JsonFault(Math.min(colon, to))
    const begin = afterSpace(bytes, colon + 1)
    const value = { from: begin, to: afterValue(bytes, begin, to) }
    yield { name, value }
    place = afterSpace(bytes, value.to)
    const byte = bytes.at(place)
    if (place < to && byte === OBJECT_END) return checkEnd(place + 1, to)
    if (place >= to || byte !== COMMA) throw new JsonFault(Math.min(place, to))
    place = afterSpace(bytes, place + 1)
  }
}

function checkEnd(place: number, to: number): void {
  if (place !== to) throw new JsonFault(place)
}
