import type { Message } from '../conversation/message.js'
import { wholeThinking } from '../formats/thinking.js'
import { partsTokens } from '../parts/tokens.js'
import { countTokens, countTokensInSteps, estimateTokens } from '../tokens/tokens.js'

/**
 * Tokens of a message in a request beside its own text: role, separators, and the ids that connect calls and results.
 * An upper bound over all formats, so that a plan that fits still fits when it is rendered.
 */
const MESSAGE_OVERHEAD_TOKENS = 8
const CALL_OVERHEAD_TOKENS = 14
/** Covers the type of one block of reasoning and the separators around it. */
export const REASONING_BLOCK_TOKENS = 4

const idTokens = (id: string) => Math.ceil(Math.min(id.length, 64) / 2)

export function overheadTokens(message: Message): number {
  const calls = message.toolCalls.reduce((sum, call) => sum + CALL_OVERHEAD_TOKENS + idTokens(call.id), 0)
  const reasoning = wholeThinking(message).length * REASONING_BLOCK_TOKENS
  return MESSAGE_OVERHEAD_TOKENS + calls + reasoning + (message.toolCallId === null ? 0 : idTokens(message.toolCallId))
}

/** Tokens of a message that is included verbatim. */
export function rawCost(message: Message): number {
  return message.tokens + overheadTokens(message)
}

/** The parts of a message that are sent to a model: text and calls, and reasoning in formats that carry it. */
type Sent = Pick<Message, 'content' | 'toolCalls' | 'thinking' | 'parts'>

/** The texts of a message that every format sends: its content and its calls. */
export function sentTexts(message: Pick<Sent, 'content' | 'toolCalls'>): string[] {
  return [
    message.content,
    ...message.toolCalls.flatMap((call) => [
      call.name,
      typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments),
    ]),
  ]
}

/** The texts of a message's reasoning, signatures included, as the formats that carry reasoning send them. */
export function reasoningTexts(message: Pick<Sent, 'thinking'>): string[] {
  return wholeThinking(message)
    .flatMap(({ text, signature, redacted }) => [text, signature ?? '', redacted ?? ''])
    .filter((text) => text !== '')
}

/** Tokens of a message by some counter; `reasoningTokens` is the part of `tokens` that only some formats send. */
export interface MessageTokens {
  readonly tokens: number
  readonly reasoningTokens: number
}

/** Signatures are random letters and digits: fewer than four characters per token. */
const TOKENS_PER_OPAQUE_CHARACTER = 0.7

/** The same without a tokenizer: four characters per token, and a measured ratio for signatures. */
export function estimateMessageTokens(message: Sent): MessageTokens {
  const { tokens: textTokens } = countMessageTokens({ ...message, thinking: [] }, estimateTokens)
  const reasoningTokens = wholeThinking(message).reduce((sum, { text, signature = '', redacted = '' }) => {
    return sum + estimateTokens(text) + Math.ceil((signature.length + redacted.length) * TOKENS_PER_OPAQUE_CHARACTER)
  }, 0)
  return { tokens: textTokens + reasoningTokens, reasoningTokens }
}

/**
 * Counts everything that the most complete format sends of a message. Formats without reasoning send less; see
 * `sentIn`.
 */
export function countMessageTokens(message: Sent, count: (text: string) => number): MessageTokens {
  const total = (texts: readonly string[]) => texts.reduce((sum, text) => sum + count(text), 0)
  const reasoningTokens = total(reasoningTexts(message))
  const tokens = total(sentTexts(message)) + partsTokens(message.parts) + reasoningTokens
  return { tokens, reasoningTokens }
}

/** The same with the exact counter, yielding within long texts. */
export function* countMessageTokensInSteps(message: Sent): Generator<undefined, MessageTokens> {
  const long = new Map<string, number>()
  for (const text of [...sentTexts(message), ...reasoningTexts(message)]) {
    if (text.length >= PAUSED_CHARACTERS_MIN) long.set(text, yield* countTokensInSteps(text))
  }
  return countMessageTokens(message, (text) => long.get(text) ?? countTokens(text))
}

/** Shorter texts take a few milliseconds, so they are counted without yielding. */
const PAUSED_CHARACTERS_MIN = 4_000
