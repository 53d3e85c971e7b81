import { sliceWhole } from '../tools/lines.js'

/**
 * The longest prefix of a text with at most `tokensMax` tokens by a counter, without half a surrogate pair at its end.
 */
export function prefixWithin(text: string, tokensMax: number, count: (text: string) => number): string {
  // Nothing beyond it can be within; counting millions of characters takes seconds.
  const longest = sliceWhole(text, Math.max(0, tokensMax) * LONGEST_TOKEN_CHARACTERS)
  if (count(longest) <= tokensMax) return longest
  let low = 0
  let high = longest.length
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (count(sliceWhole(text, middle)) <= tokensMax) low = middle
    else high = middle - 1
  }
  let cut = sliceWhole(text, low)
  // Token counts of prefixes are not monotonic: if one fits, a shorter one may not.
  while (cut !== '' && count(cut) > tokensMax) cut = sliceWhole(cut, cut.length - 1)
  return cut
}

/** The longest tokens of o200k are runs of spaces and punctuation of up to 128 characters. */
const LONGEST_TOKEN_CHARACTERS = 128
