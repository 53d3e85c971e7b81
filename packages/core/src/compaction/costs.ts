import type { Message } from '../message.js'

/**
 * What a message costs in a request besides its own text: role, separators, and the ids that tie calls to results. The
 * figures are above what any format needs, so that a plan that fits still fits when it is rendered.
 */
const MESSAGE_OVERHEAD_TOKENS = 8
const CALL_OVERHEAD_TOKENS = 14

const idTokens = (id: string) => Math.ceil(Math.min(id.length, 64) / 2)

export function overheadTokens(message: Message): number {
  const calls = message.toolCalls.reduce((sum, call) => sum + CALL_OVERHEAD_TOKENS + idTokens(call.id), 0)
  return MESSAGE_OVERHEAD_TOKENS + calls + (message.toolCallId === null ? 0 : idTokens(message.toolCallId))
}

/** Tokens of a message that stands in a context as it is. */
export function rawCost(message: Message): number {
  return message.tokens + overheadTokens(message)
}

/** The texts of a message that a model is sent; unsigned reasoning is never sent. */
export function sentTexts(message: Pick<Message, 'content' | 'toolCalls' | 'thinking'>): string[] {
  return [
    message.content,
    ...message.toolCalls.flatMap((call) => [
      call.name,
      typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments),
    ]),
    ...message.thinking.filter((block) => block.signature !== undefined).map((block) => block.text),
  ]
}

/** Tokens of a message by a counter, over everything that a model is sent of it. */
export function countMessageTokens(
  message: Pick<Message, 'content' | 'toolCalls' | 'thinking'>,
  count: (text: string) => number,
): number {
  return sentTexts(message).reduce((sum, text) => sum + count(text), 0)
}
