import { createRequire } from 'node:module'
import { BytePairs, bytesOf } from './byte-pairs.js'
import { detached } from './detached.js'

/**
 * To split a text into pieces takes quadratic time on a run without a break, such as a megabyte of spaces. Longer runs are
 * counted in slices: the sum is never less than the true count, so no budget is exceeded by it.
 */
const RUN_CHARACTERS_MAX = 2_000

type Ranks = typeof import('gpt-tokenizer/bpeRanks/o200k_base')
type Params = typeof import('gpt-tokenizer/encodingParams/o200k_base')

interface O200k {
  readonly pairs: BytePairs
  /** Splits a text into the pieces that are encoded one by one. */
  readonly pieces: RegExp
}

/** Loaded with the first count: its table takes 45 MB and a fifth of a second, and most processes never count. */
let loaded: O200k | undefined

function load(): O200k {
  const require = createRequire(import.meta.url)
  const { default: ranks } = require('gpt-tokenizer/bpeRanks/o200k_base') as Ranks
  const { O200KBase } = require('gpt-tokenizer/encodingParams/o200k_base') as Params
  return { pairs: new BytePairs(ranks), pieces: O200KBase([]).tokenSplitRegex }
}

/**
 * Tokens of the short pieces that were met last. Most of a text is made of few words; among these a look-up is far faster
 * than in the encoding's own table of 200,000. A key must not keep alive the text that it is cut from.
 */
const known = new Map<string, number>()
const KNOWN_MAX = 20_000
const KNOWN_CHARACTERS_MAX = 40

/** What is split into pieces at once: of a text of megabytes, a million pieces at the same time fill the memory. */
const WINDOW_CHARACTERS = 32_768
/** The end of a piece depends on what follows it: on a few characters, or on the whole of a run, which is the last piece. */
const LOOK_AHEAD_CHARACTERS = 16

/** Tokens of a text by OpenAI's o200k encoding. */
export function countTokens(text: string): number {
  if (text === '') return 0
  if (text.length <= RUN_CHARACTERS_MAX || !hasLongRun(text)) return countPieces(text)
  let tokens = 0
  for (let from = 0; from < text.length; from += RUN_CHARACTERS_MAX) {
    tokens += countPieces(text.slice(from, from + RUN_CHARACTERS_MAX))
  }
  return tokens
}

function countPieces(text: string): number {
  loaded ??= load()
  let tokens = 0
  for (let from = 0; from < text.length; ) {
    const window = text.slice(from, from + WINDOW_CHARACTERS)
    const isLast = from + window.length === text.length
    const sure = isLast ? window.length : window.length - LOOK_AHEAD_CHARACTERS
    let at = 0
    for (const piece of window.match(loaded.pieces) ?? []) {
      if (at + piece.length > sure && at > 0) break
      at += piece.length
      tokens += piece.length > KNOWN_CHARACTERS_MAX ? countPiece(piece, loaded) : countShort(piece, loaded)
    }
    from += at
  }
  return tokens
}

function countShort(piece: string, o200k: O200k): number {
  const found = known.get(piece)
  if (found !== undefined) return found
  const tokens = countPiece(piece, o200k)
  if (known.size >= KNOWN_MAX) known.clear()
  known.set(detached(piece), tokens)
  return tokens
}

function countPiece(piece: string, { pairs }: O200k): number {
  const bytes = bytesOf(piece)
  return pairs.has(bytes) ? 1 : pairs.count(bytes)
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

/** An estimate: four characters a token. */
export function estimateTokens(text: string): number {
  return Math.ceil(text.length / 4)
}
