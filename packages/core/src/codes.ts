import { hash } from 'node:crypto'

/** Crockford's base 32 in small letters: no letter can be taken for a digit. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'

export const CODE_CHARACTERS = 8

/**
 * The short code of an id: the first `length` characters of a hash. It is no prefix of the id, since the first digits of a
 * UUIDv7 are the same for all that were made within a minute. Where two ids share a code, the later one takes a longer code.
 */
export function shortCode(id: string, length: number = CODE_CHARACTERS): string {
  const digest = hash('sha256', id, 'buffer')
  let bits = 0
  let bitCount = 0
  let code = ''
  for (const byte of digest) {
    bits = (bits << 8) | byte
    bitCount += 8
    while (bitCount >= 5 && code.length < length) {
      bitCount -= 5
      code += ALPHABET[(bits >> bitCount) & 31]
    }
    bits &= (1 << bitCount) - 1
    if (code.length === length) break
  }
  return code
}
