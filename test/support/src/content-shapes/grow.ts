/** A shape of contents: the same text for the same size, of at most `bytes` in UTF-8 and at least nine tenths of them. */
export type ContentShape = (bytes: number) => string

export type ContentShapes = Readonly<Record<string, ContentShape>>

/** A shape of numbered pieces, one after another. */
export function pieces(piece: (number: number) => string): ContentShape {
  return (bytes) => {
    const parts: string[] = []
    let left = bytes
    for (let number = 0; left > 0; number += 1) {
      const next = piece(number)
      const size = Buffer.byteLength(next)
      parts.push(size <= left ? next : cut(next, left))
      left -= size
    }
    return parts.join('')
  }
}

/** A shape of one piece again and again. */
export function repeated(piece: string): ContentShape {
  return (bytes) => {
    const size = Buffer.byteLength(piece)
    const times = Math.max(0, Math.floor(bytes / size))
    return piece.repeat(times) + cut(piece, bytes - times * size)
  }
}

/** A shape of `open` again and again, then `close` as often. */
export function nested(open: string, close: string, inside = ''): ContentShape {
  return (bytes) => {
    const depth = Math.max(0, Math.floor((bytes - inside.length) / (open.length + close.length)))
    return open.repeat(depth) + inside + close.repeat(depth)
  }
}

/** `first`, then as much of the shape as fits, then `last`. */
export function between(first: string, shape: ContentShape, last = ''): ContentShape {
  return (bytes) => first + shape(bytes - Buffer.byteLength(first) - Buffer.byteLength(last)) + last
}

const LCG_FACTOR = 1_664_525
const LCG_STEP = 1_013_904_223
const HASH_FACTOR = 2_654_435_761

/** A pseudo-random number from 0 to 2^32 for `seed`. */
export function scattered(seed: number): number {
  const mixed = Math.imul(seed + 1, HASH_FACTOR) ^ (seed >>> 7)
  return (Math.imul(mixed, LCG_FACTOR) + LCG_STEP) >>> 0
}

export function picked(choices: string, seed: number): string {
  return choices.charAt(scattered(seed) % choices.length)
}

export function letters(alphabet: string, count: number, seed: number): string {
  let text = ''
  for (let at = 0; at < count; at += 1) text += picked(alphabet, seed * count + at)
  return text
}

/** The beginning of a text, of at most `bytes`, cut between characters. */
function cut(text: string, bytes: number): string {
  let size = 0
  let end = 0
  for (const character of text) {
    size += Buffer.byteLength(character)
    if (size > bytes) break
    end += character.length
  }
  return text.slice(0, end)
}
