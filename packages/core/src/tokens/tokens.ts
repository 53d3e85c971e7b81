import { createRequire } from 'node:module'
import { BytePairs } from './byte-pairs.js'
import { type TokenArrays, TokenTable } from './token-table.js'

/**
 * Splitting a text into pieces takes quadratic time on a run without a break, such as a megabyte of spaces. Longer runs
 * are counted in slices: the sum is never less than the true count, so no budget is exceeded.
 */
const RUN_CHARACTERS_MAX = 2_000

type Ranks = typeof import('gpt-tokenizer/bpeRanks/o200k_base')
type Params = typeof import('gpt-tokenizer/encodingParams/o200k_base')

interface O200k {
  readonly pairs: BytePairs
  /** Splits a text into the pieces that are encoded one by one. */
  readonly pieces: RegExp
}

/** Loaded at the first count, which takes a fifth of a second: most processes never count. */
let loaded: O200k | undefined

function load(): O200k {
  return { pairs: loadPairs(), pieces: loadExpression() }
}

function loadExpression(): RegExp {
  const { O200KBase } = createRequire(import.meta.url)('gpt-tokenizer/encodingParams/o200k_base') as Params
  return O200KBase([]).tokenSplitRegex
}

/** The table holds the tokens in a fifth of the memory of the library's 200,000 strings, which are forgotten with their module. */
function loadPairs(): BytePairs {
  // Of its own: modules that one function loads keep one another in memory.
  const require = createRequire(import.meta.url)
  const { default: ranks } = require(RANKS) as Ranks
  delete require.cache[require.resolve(RANKS)]
  return new BytePairs(TokenTable.of(ranks))
}

/**
 * The table of the tokenizer, for other threads of the process; null if this one has not counted yet. To read the library's file,
 * each thread would take 25 MB, which the allocator keeps.
 */
export function loadedTokens(): TokenArrays | null {
  return loaded?.pairs.table.arrays ?? null
}

/** Counts with the table that another thread has loaded. To be called before the first count. */
export function useTokens(arrays: TokenArrays): void {
  loaded ??= { pairs: new BytePairs(new TokenTable(arrays)), pieces: loadExpression() }
}

const RANKS = 'gpt-tokenizer/bpeRanks/o200k_base'

/**
 * Characters split into pieces at once: this takes a few milliseconds, while splitting a whole text could fill the
 * memory with a million pieces.
 */
const WINDOW_CHARACTERS = 8_192
/** The end of a piece depends on what follows it: a few characters, or a whole run, which is then the last piece. */
const LOOK_AHEAD_CHARACTERS = 16

/** Tokens of a text by OpenAI's o200k encoding. */
export function countTokens(text: string): number {
  const steps = countTokensInSteps(text)
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

/** The same, yielding every few milliseconds, for a text of any length in a process that serves others. */
export function* countTokensInSteps(text: string): Generator<undefined, number> {
  if (text === '') return 0
  const hasRun = text.length > RUN_CHARACTERS_MAX && hasLongRun(text)
  let tokens = 0
  for (let from = 0; from < text.length; ) {
    const window = hasRun ? wholeWindow(text.slice(from, from + RUN_CHARACTERS_MAX)) : nextWindow(text, from)
    tokens += window.tokens
    from += window.characters
    if (from < text.length) yield
  }
  return tokens
}

interface CountedWindow {
  readonly characters: number
  readonly tokens: number
}

/** Counts the complete pieces from a position on: the last ones may extend beyond the window. */
function nextWindow(text: string, from: number): CountedWindow {
  const window = text.slice(from, from + WINDOW_CHARACTERS)
  const isLast = from + window.length === text.length
  return isLast ? wholeWindow(window) : countPieces(window, window.length - LOOK_AHEAD_CHARACTERS)
}

function wholeWindow(window: string): CountedWindow {
  return { ...countPieces(window, window.length), characters: window.length }
}

function countPieces(window: string, sure: number): CountedWindow {
  loaded ??= load()
  let characters = 0
  let tokens = 0
  for (const piece of window.match(loaded.pieces) ?? []) {
    if (characters + piece.length > sure && characters > 0) break
    characters += piece.length
    tokens += loaded.pairs.count(piece)
  }
  return { characters, tokens }
}

/** A scan, since a regular expression would retry from each position of a run. */
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

/** An estimate: four characters per token. */
export function estimateTokens(text: string): number {
  return Math.ceil(text.length / 4)
}
