import type { SummarySource } from '../speech/source.js'
import { countTokens } from '../tokens/tokens.js'
import { formatSource } from './prompts.js'
import { elideMiddle } from './sources.js'
import { summarizeExtractively } from './summarize.js'

/**
 * How a conversation that is larger than a summarizer's window is folded: in parts that fit, each summarized from its raw
 * messages, then the summaries of several parts into one, until one is left. A message is therefore summarized as often as
 * the fold has levels, which is two or three, and not once for each part that follows it.
 */
export const foldBounds = {
  /** Parts that are summarized from messages. What does not fit into as many is shortened without a model first. */
  partsMax: 40,
  /** Summaries of parts that one further call takes at least. */
  fanInMin: 6,
  /** Calls of one summary, the second tries of an answer that was no good included. */
  callsMax: 64,
  /** Content of one call in tokens, whatever the window: longer inputs take longer than a call may. */
  contentTokensMax: 100_000,
  /** The smallest content for which folding makes sense. */
  contentTokensMin: 400,
} as const

export interface FoldWindow {
  /** Tokens of the summarizer's window, input and answer together. */
  readonly windowTokens: number
  /** Tokens of the answer. */
  readonly tokensMax: number
  /** How many tokens of the provider one of ours may be; 1 for o200k itself. */
  readonly margin: number
}

/** What the prompts take besides the conversation. */
const PROMPT_TOKENS = 260

/** Tokens of content that one call may carry. */
export function contentTokensMax({ windowTokens, tokensMax, margin }: FoldWindow): number {
  const room = Math.floor(windowTokens / margin) - PROMPT_TOKENS - Math.min(tokensMax, Math.floor(windowTokens / 4))
  return Math.max(foldBounds.contentTokensMin, Math.min(foldBounds.contentTokensMax, room))
}

/** The longest summary of a part: so many of them fit into one call that a fold gets small quickly. */
export function partSummaryTokensMax(contentTokens: number, tokensMax: number): number {
  return Math.max(60, Math.min(tokensMax, Math.floor(contentTokens / foldBounds.fanInMin) - 4))
}

/**
 * Tokens of a text without counting it, never fewer than there are in ordinary text: two million tokens take seconds to
 * count, and parts are checked exactly when they are made.
 */
export function roughTokens(text: string): number {
  let units = 0
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    // MessageBatcher and spaces come in words; signs and digits are often tokens of their own.
    units += code > 127 ? 4 : (code | 32) > 96 || code === 32 ? 1 : 2
  }
  return Math.ceil(units / 3) + 1
}

/** A run of messages, by place; `to` is not of it. */
export interface Part {
  readonly from: number
  readonly to: number
}

/**
 * Splits messages into runs that each fit a call, or into `partsMax` runs of about the same size where that would be too
 * many; a message that is larger than a call is a part of its own.
 *
 * @param costs rough tokens of each message
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

/** A part ends where its share of the whole is reached, so there are never more parts than shares. */
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
 * The text of a part, never more than `contentTokens`: messages as they are; where that is too much, the oversized ones
 * elided in the middle with their references; where it still is, what the extractive summarizer makes of them.
 */
export function partText(messages: readonly SummarySource[], contentTokens: number): string {
  const rough = messages.reduce((sum, source) => sum + roughTokens(source.text), 0)
  // What is far too much is not put together only to be counted.
  if (rough <= 4 * contentTokens || messages.length === 1) {
    const text = joined(messages.map((source) => elided(source, contentTokens)))
    if (countTokens(text) <= contentTokens) return text
  }
  return summarizeExtractively({ purpose: 'compaction', messages, previousSummary: null, tokensMax: contentTokens })
}

function joined(messages: readonly SummarySource[]): string {
  return messages.map(formatSource).join('\n\n')
}

/** A message that alone is larger than half of a call loses its middle; its reference says where the whole of it is. */
function elided(source: SummarySource, contentTokens: number): SummarySource {
  const tokensMax = Math.floor(contentTokens / 2)
  if (source.text.length <= tokensMax || countTokens(source.text) <= tokensMax) return source
  // A character takes three tokens at most, so this ends.
  for (let characters = Math.min(source.text.length, tokensMax * 4); ; characters = Math.floor(characters / 2)) {
    const text = elideMiddle(source.text, characters)
    const whole = source.reference === '' ? text : `${text}\n[the whole message: recall:${source.reference}]`
    if (characters < 16 || countTokens(whole) <= tokensMax) return { ...source, text: whole }
  }
}
