import type { SummarySource } from '../speech/source.js'
import { countTokens } from '../tokens/tokens.js'
import { formatSource } from './prompts.js'
import { elideMiddle } from './sources.js'
import { summarizeExtractively } from './summarize.js'

/**
 * How a conversation larger than a summarizer's window is folded: in parts that fit, each summarized from its raw
 * messages, then the summaries of several parts into one, until one is left. A message is therefore summarized once per
 * level of the fold, which is two or three times, and not once for each later part.
 */
export const foldBounds = {
  /**
   * Maximum number of parts summarized from messages. If more are needed, messages are first shortened without a model.
   */
  partsMax: 40,
  /** Minimum number of part summaries that one further call combines. */
  fanInMin: 6,
  /** Calls per summary, including retries of bad answers. */
  callsMax: 64,
  /** Tokens of content per call, whatever the window: longer inputs exceed the time limit of a call. */
  contentTokensMax: 100_000,
  /** The smallest content for which folding is useful. */
  contentTokensMin: 400,
} as const

export interface FoldWindow {
  /** Tokens of the summarizer's window, input and answer together. */
  readonly windowTokens: number
  /** Tokens of the answer. */
  readonly tokensMax: number
  /** Provider tokens per token of ours, at most; 1 for o200k itself. */
  readonly margin: number
}

/** Tokens of the prompts beside the conversation. */
const PROMPT_TOKENS = 260

/** Tokens of content that one call may carry. */
export function contentTokensMax({ windowTokens, tokensMax, margin }: FoldWindow): number {
  const room = Math.floor(windowTokens / margin) - PROMPT_TOKENS - Math.min(tokensMax, Math.floor(windowTokens / 4))
  return Math.max(foldBounds.contentTokensMin, Math.min(foldBounds.contentTokensMax, room))
}

/** The longest summary of a part: enough of them fit into one call that a fold shrinks quickly. */
export function partSummaryTokensMax(contentTokens: number, tokensMax: number): number {
  return Math.max(60, Math.min(tokensMax, Math.floor(contentTokens / foldBounds.fanInMin) - 4))
}

/**
 * Estimates the tokens of a text, never too low for ordinary text: exactly counting two million tokens takes seconds,
 * and parts are checked exactly when they are made.
 */
export function roughTokens(text: string): number {
  let units = 0
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    // Letters and spaces form words; punctuation and digits are often tokens of their own.
    units += code > 127 ? 4 : (code | 32) > 96 || code === 32 ? 1 : 2
  }
  return Math.ceil(units / 3) + 1
}

/** A run of messages by index; `to` is exclusive. */
export interface Part {
  readonly from: number
  readonly to: number
}

/**
 * Splits messages into runs that each fit a call, or into `partsMax` runs of similar size if those would be too many; a
 * message that is larger than a call is a part of its own.
 *
 * @param costs estimated tokens of each message
 */
export function splitIntoParts(costs: readonly number[], contentTokens: number): Part[] {
  const fitting = packed(costs, contentTokens)
  if (fitting.length <= foldBounds.partsMax) return fitting
  const total = costs.reduce((sum, cost) => sum + cost, 0)
  return evenly(costs, total / foldBounds.partsMax)
}

function packed(costs: readonly number[], tokensMax: number): Part[] {
  const parts: Part[] = []
  let from = 0
  let tokens = 0
  for (const [place, cost] of costs.entries()) {
    if (place > from && tokens + cost > tokensMax) {
      parts.push({ from, to: place })
      from = place
      tokens = 0
    }
    tokens += cost
  }
  if (from < costs.length) parts.push({ from, to: costs.length })
  return parts
}

/** A part ends when its share of the total is reached, so there are never more parts than shares. */
function evenly(costs: readonly number[], share: number): Part[] {
  const parts: Part[] = []
  let from = 0
  let tokens = 0
  for (const [place, cost] of costs.entries()) {
    tokens += cost
    if (tokens < share * (parts.length + 1) && place < costs.length - 1) continue
    parts.push({ from, to: place + 1 })
    from = place + 1
  }
  return parts
}

/**
 * The text of a part, at most `contentTokens`: messages verbatim; if that is too much, the oversized ones elided in the
 * middle with their references; if it still is, their extractive summary.
 */
export function partText(messages: readonly SummarySource[], contentTokens: number): string {
  const rough = messages.reduce((sum, source) => sum + roughTokens(source.text), 0)
  // A text that is far too long is not assembled just to be counted.
  if (rough <= 4 * contentTokens || messages.length === 1) {
    const text = joined(messages.map((source) => elided(source, contentTokens)))
    if (countTokens(text) <= contentTokens) return text
  }
  return summarizeExtractively({ purpose: 'compaction', messages, previousSummary: null, tokensMax: contentTokens })
}

function joined(messages: readonly SummarySource[]): string {
  return messages.map(formatSource).join('\n\n')
}

/** A message larger than half of a call loses its middle; its reference leads to the whole. */
function elided(source: SummarySource, contentTokens: number): SummarySource {
  const tokensMax = Math.floor(contentTokens / 2)
  if (source.text.length <= tokensMax || countTokens(source.text) <= tokensMax) return source
  // A character takes at most three tokens, so this terminates.
  for (let characters = Math.min(source.text.length, tokensMax * 4); ; characters = Math.floor(characters / 2)) {
    const text = elideMiddle(source.text, characters)
    const whole = source.reference === '' ? text : `${text}\n[the whole message: recall:${source.reference}]`
    if (characters < 16 || countTokens(whole) <= tokensMax) return { ...source, text: whole }
  }
}
