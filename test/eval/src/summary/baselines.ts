import { countTokens, type SummarySource } from '@heddle/core'
import { textRank } from './text-rank.js'

/** Trivial summaries of the same length: a summary must be better than each of these. */
export const baselines = {
  last: (sources: readonly SummarySource[], tokensMax: number) => tail(transcript(sources), tokensMax),
  edges: (sources: readonly SummarySource[], tokensMax: number) => {
    const text = transcript(sources)
    return `${head(text, tokensMax / 2)}\n${tail(text, tokensMax / 2)}`
  },
  textrank: (sources: readonly SummarySource[], tokensMax: number) => {
    const speech = sources.filter(({ role }) => role === 'user' || role === 'assistant')
    return textRank(
      speech.map(({ text }) => text),
      tokensMax,
    )
  },
} as const

function transcript(sources: readonly SummarySource[]): string {
  return sources.map(({ text }) => text).join('\n')
}

function head(text: string, tokensMax: number): string {
  return longestWithin(text.length, tokensMax, (length) => text.slice(0, length))
}

function tail(text: string, tokensMax: number): string {
  return longestWithin(text.length, tokensMax, (length) => text.slice(text.length - length))
}

/** No token of a session is longer than this on average, and blanks may be long. */
const CHARACTERS_A_TOKEN_MAX = 12

function longestWithin(length: number, tokensMax: number, cut: (length: number) => string): string {
  let [fits, exceeds] = [0, Math.min(length, tokensMax * CHARACTERS_A_TOKEN_MAX) + 1]
  while (exceeds - fits > 1) {
    const middle = Math.floor((fits + exceeds) / 2)
    if (countTokens(cut(middle).toWellFormed()) <= tokensMax) fits = middle
    else exceeds = middle
  }
  return cut(fits).toWellFormed()
}
