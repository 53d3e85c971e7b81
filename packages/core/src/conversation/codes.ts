import { hash } from 'node:crypto'

/** Crockford's base 32 in lower case: no letter can be mistaken for a digit. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'

export const CODE_CHARACTERS = 8

/**
 * The short code of an id: the first `length` characters of a hash. A prefix of the id would not do, since UUIDv7 ids
 * made within a minute share their first digits. If two ids share a code, the later one gets a longer code.
 */
export function shortCode(id: string, length: number = CODE_CHARACTERS): string {
  const digits = hash('sha256', id, 'hex')
  let code = ''
  // Five hexadecimal digits make four of base 32.
  for (let from = 0; code.length < length; from += 5) {
    const bits = Number.parseInt(digits.slice(from, from + 5), 16)
    for (let shift = 15; shift >= 0; shift -= 5) code += ALPHABET[(bits >> shift) & 31]
  }
  return code.slice(0, length)
}
