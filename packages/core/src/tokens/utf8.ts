import { isHighSurrogate, isLowSurrogate } from './characters.js'

/** Bytes of UTF-8 for one unit of UTF-16. */
export const UNIT_BYTES_MAX = 3

const REPLACEMENT = 0xfffd

/**
 * Writes a text as UTF-8, a lone surrogate as the replacement character. For a few characters, a call of an encoder takes several
 * times as long.
 *
 * @param bytes with space for {@link UNIT_BYTES_MAX} bytes for each unit of the text
 * @param from where its first byte is written
 * @returns where its last byte ends
 */
export function writeUtf8(text: string, bytes: Uint8Array, from = 0): number {
  let end = from
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit < 0x80) bytes[end++] = unit
    else if (unit < 0x800) {
      bytes[end++] = 0xc0 | (unit >> 6)
      bytes[end++] = 0x80 | (unit & 0x3f)
    } else if (isHighSurrogate(unit) && isLowSurrogate(text.charCodeAt(at + 1))) {
      const point = text.codePointAt(at++) as number
      bytes[end++] = 0xf0 | (point >> 18)
      bytes[end++] = 0x80 | ((point >> 12) & 0x3f)
      bytes[end++] = 0x80 | ((point >> 6) & 0x3f)
      bytes[end++] = 0x80 | (point & 0x3f)
    } else {
      const known = isHighSurrogate(unit) || isLowSurrogate(unit) ? REPLACEMENT : unit
      bytes[end++] = 0xe0 | (known >> 12)
      bytes[end++] = 0x80 | ((known >> 6) & 0x3f)
      bytes[end++] = 0x80 | (known & 0x3f)
    }
  }
  return end
}
