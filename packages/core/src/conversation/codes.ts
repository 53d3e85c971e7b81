import { hash } from 'node:crypto'

/** Crockford's base 32 in small letters: no letter can be taken for a digit. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'

export const CODE_CHARACTERS = 8

/**
 * The short code of an id: the first `length` characters of a hash. It is no prefix of the id, since the first digits of a
 * UUIDv7 are the same for all that were made within a minute. Where two ids share a code, the later one takes a longer code.
 */
export function shortCode(id: string, length: number = CODE_CHARACTERS): string {
  const digits = hash('sha256', id, 'hex')
  let code = ''
  // Five hexadecimal digits are four of base 32.
  for (let from = 0; code.length < length; from += 5) {
    const bits = Number.parseInt(digits.slice(from, from + 5), 16)
    for (let shift = 15; shift >= 0; shift -= 5) code += ALPHABET[(bits >> shift) & 31]
  }
  return code.slice(0, length)
}
