import { createRequire } from 'node:module'
import { detached } from './detached.js'

/**
 * Byte-pair merging takes quadratic time on a run without a break, such as a megabyte of one letter. Longer runs are
 * counted in slices: the sum is never less than the true count, so no budget is exceeded by it.
 */
const RUN_CHARACTERS_MAX = 2_000
/** Names of special tokens in a text, such as `<|endoftext|>`, are text: nobody smuggles control tokens in. */
const ENCODE_OPTIONS = { disallowedSpecial: new Set<string>() }

type Encoding = typeof import('gpt-tokenizer/encoding/o200k_base')
type Params = typeof import('gpt-tokenizer/encodingParams/o200k_base')

interface O200k {
  count(text: string): number
  /** The encoding keeps 100,000 pieces that it has merged, and with each the text that it was cut from. */
  forget(): void
  /** Splits a text into the pieces that are encoded one by one. */
  readonly pieces: RegExp
}

/** Loaded with the first count: its table takes 45 MB and a fifth of a second, and most processes never count. */
let loaded: O200k | undefined

function load(): O200k {
  const require = createRequire(import.meta.url)
  const { countTokens: count, clearMergeCache } = require('gpt-tokenizer/encoding/o200k_base') as Encoding
  const { O200KBase } = require('gpt-tokenizer/encodingParams/o200k_base') as Params
  return {
    count: (text) => count(text, ENCODE_OPTIONS),
    forget: clearMergeCache,
    pieces: O200KBase([]).tokenSplitRegex,
  }
}

/**
 * Tokens of the pieces that were met last. Most of a text is made of few words; among these a look-up is far faster than in
 * the encoding's own table of 200,000, and than merging what is not in it. Longer pieces are hashes and encoded files.
 */
const known = new Map<string, number>()
const KNOWN_MAX = 20_000
const KNOWN_CHARACTERS_MAX = 40

/** Tokens of a text by OpenAI's o200k encoding. */
export function countTokens(text: string): number {
  if (text === '') return 0
  loaded ??= load()
  const tokens =
    text.length <= RUN_CHARACTERS_MAX || !hasLongRun(text) ? countPieces(text, loaded) : countInSlices(text, loaded)
  loaded.forget()
  return tokens
}

function countInSlices(text: string, encoding: O200k): number {
  let tokens = 0
  for (let from = 0; from < text.length; from += RUN_CHARACTERS_MAX) {
    tokens += countPieces(text.slice(from, from + RUN_CHARACTERS_MAX), encoding)
  }
  return tokens
}

function countPieces(text: string, encoding: O200k): number {
  let tokens = 0
  for (const piece of text.match(encoding.pieces) ?? []) {
    tokens += piece.length > KNOWN_CHARACTERS_MAX ? encoding.count(piece) : countShort(piece, encoding)
  }
  return tokens
}

function countShort(piece: string, { count }: O200k): number {
  const found = known.get(piece)
  if (found !== undefined) return found
  const tokens = count(piece)
  if (known.size >= KNOWN_MAX) known.clear()
  known.set(detached(piece), tokens)
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
