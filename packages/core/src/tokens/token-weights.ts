import { isAsciiLetter, isDigit, isSpace, isVowel } from './characters.js'

/**
 * Longer words are often hashes, base64 or joined names, which word pieces split into little more than single letters.
 */
const PLAIN_WORD_CHARACTERS_MAX = 12

/**
 * For each character, an upper estimate of its share of word-piece tokens, in halves. Word pieces make every
 * punctuation mark and every Chinese character a token, take digits and rare letters one by one, and decompose
 * characters by Unicode (a Korean syllable into three letters). A plain word, which has a vowel, costs at most a token
 * per two letters; real English costs half of that.
 */
export function tokenWeights(text: string): Uint8Array {
  const weights = new Uint8Array(text.length)
  let at = 0
  while (at < text.length) {
    const code = text.charCodeAt(at)
    if (!isAsciiLetter(code) && !isDigit(code)) {
      weights[at] = isSpace(code) ? 0 : 2 * (code < FIRST_DECOMPOSED ? 1 : decomposedLength(text.charAt(at), code))
      at++
      continue
    }
    let to = at
    let hasVowel = false
    for (; to < text.length; to++) {
      const letter = text.charCodeAt(to)
      if (!isAsciiLetter(letter) && !isDigit(letter)) break
      hasVowel ||= isVowel(letter)
    }
    const isPlain = hasVowel && to - at <= PLAIN_WORD_CHARACTERS_MAX
    for (let index = at; index < to; index++) weights[index] = isPlain && !isDigit(text.charCodeAt(index)) ? 1 : 2
    if (isPlain && (to - at) % 2 === 1) weights[at] = 2
    at = to
  }
  return weights
}

/** Below it (Latin, Greek, Cyrillic, Hebrew, Arabic) letters decompose into one letter and marks, which are dropped. */
const FIRST_DECOMPOSED = 0x0900

function decomposedLength(character: string, code: number): number {
  if (code >= 0xac00 && code <= 0xd7a3) return 3
  return code < 0x2000 ? character.normalize('NFD').length : 1
}
