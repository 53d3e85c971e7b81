import type { FormatName } from '@heddle/contracts'
import type { Conversation } from '../conversation/conversation.js'
import type { Message } from '../conversation/message.js'
import { carriesReasoning } from '../formats/index.js'
import { partsTokens } from '../parts/tokens.js'
import { partsTokensIn } from './sent-parts.js'

/** Copies without reasoning, by message. The copy is always the same object, so that caches keyed by message work. */
const bare = new WeakMap<Message, Message>()

function withoutReasoning(message: Message): Message {
  const known = bare.get(message)
  if (known !== undefined) return known
  const tokens = message.tokens - message.reasoningTokens
  const copy = { ...message, thinking: [], tokens, reasoningTokens: 0 }
  bare.set(message, copy)
  return copy
}

/** Messages as each format sends them, by stored message. */
const sent = new WeakMap<Message, Map<FormatName, Message>>()
const formatOf = new WeakMap<Message, FormatName>()

/**
 * A message as a format sends it: without reasoning if the format cannot carry it, and with its parts by the format's
 * rule, so that only what is sent is counted. Always returns the same copy.
 */
export function sentIn(format: FormatName, message: Message): Message {
  const { parts = [], thinking } = message
  const isBare = thinking.length > 0 && !carriesReasoning(format)
  if ((!isBare && parts.length === 0) || formatOf.get(message) === format) return message
  const known = sent.get(message)?.get(format)
  if (known !== undefined) return known
  const said = isBare ? withoutReasoning(message) : message
  const tokens = said.tokens - partsTokens(parts) + partsTokensIn(format, { ...message, parts })
  const copy = parts.length === 0 ? said : { ...said, tokens: Math.max(0, tokens) }
  sent.set(message, (sent.get(message) ?? new Map<FormatName, Message>()).set(format, copy))
  formatOf.set(copy, format)
  return copy
}

/** Messages as a format sends them; the same list object if it sends all of them unchanged. */
export function sentMessages(format: FormatName, messages: readonly Message[]): readonly Message[] {
  const isSame = messages.every((message) => sentIn(format, message) === message)
  return isSame ? messages : messages.map((message) => sentIn(format, message))
}

/**
 * Drops reasoning of finished turns, oldest first, until `tokensOver` tokens are saved or no such reasoning is left.
 * Providers require only the reasoning of the current turn: Anthropic's API ignores that of earlier turns.
 * (https://docs.anthropic.com/en/docs/build-with-claude/extended-thinking, "Preserving thinking blocks")
 *
 * @param isAnswered whether a new message of the user follows, so that all turns are finished
 */
export function dropOldReasoning(
  conversation: Conversation,
  tokensOver: number,
  isAnswered: boolean,
): { conversation: Conversation; dropped: number } {
  const { messages } = conversation
  const openFrom = isAnswered ? messages.length : messages.findLastIndex(({ role }) => role === 'user')
  let saved = 0
  let dropped = 0
  const kept = messages.map((message, index) => {
    if (index >= openFrom || saved >= tokensOver || message.reasoningTokens === 0) return message
    saved += message.reasoningTokens
    dropped++
    return withoutReasoning(message)
  })
  return dropped === 0 ? { conversation, dropped } : { conversation: { ...conversation, messages: kept }, dropped }
}
