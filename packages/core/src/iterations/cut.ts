import { sliceWhole } from '../tools/lines.js'

/** The longest beginning of a text that has at most so many tokens by a counter, without half a character at its end. */
export function prefixWithin(text: string, tokensMax: number, count: (text: string) => number): string {
  if (count(text) <= tokensMax) return text
  let low = 0
  let high = Math.min(text.length, Math.max(0, tokensMax) * LONGEST_TOKEN_CHARACTERS)
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (count(sliceWhole(text, middle)) <= tokensMax) low = middle
    else high = middle - 1
  }
  let cut = sliceWhole(text, low)
  // Counts of beginnings do not rise with each character: where one fits, a shorter one may not.
  while (cut !== '' && count(cut) > tokensMax) cut = sliceWhole(cut, cut.length - 1)
  return cut
}

/** The longest tokens of o200k are runs of spaces and signs of up to 128 characters. */
const LONGEST_TOKEN_CHARACTERS = 128
