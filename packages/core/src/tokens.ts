import { countTokens as countO200k } from 'gpt-tokenizer/encoding/o200k_base'

/**
 * Byte-pair merging takes quadratic time on a run without a break, such as a megabyte of one letter. Longer runs are
 * counted in slices: the sum is never less than the true count, so no budget is exceeded by it.
 */
const RUN_CHARACTERS_MAX = 2_000
/** Names of special tokens in a text, such as `<|endoftext|>`, are text: nobody smuggles control tokens in. */
const ENCODE_OPTIONS = { disallowedSpecial: new Set<string>() }

/** Tokens of a text by OpenAI's o200k encoding. */
export function countTokens(text: string): number {
  if (text === '') return 0
  if (text.length <= RUN_CHARACTERS_MAX || !hasLongRun(text)) return countO200k(text, ENCODE_OPTIONS)
  let tokens = 0
  for (let from = 0; from < text.length; from += RUN_CHARACTERS_MAX) {
    tokens += countO200k(text.slice(from, from + RUN_CHARACTERS_MAX), ENCODE_OPTIONS)
  }
  return tokens
}

/** A scan instead of a regular expression, which would try each start of a run anew. */
function hasLongRun(text: string): boolean {
  let run = 0
  let inSpace = false
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    const isSpace = code === 32 || (code >= 9 && code <= 13)
    run = isSpace === inSpace ? run + 1 : 1
    inSpace = isSpace
    if (run > RUN_CHARACTERS_MAX) return true
  }
  return false
}

/** Spec 003's estimate: four characters a token. */
export function estimateTokens(text: string): number {
  return Math.ceil(text.length / 4)
}
