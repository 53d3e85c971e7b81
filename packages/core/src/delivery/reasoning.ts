import type { FormatName } from '@heddle/contracts'
import type { Conversation } from '../conversation/conversation.js'
import type { Message } from '../conversation/message.js'
import { carriesReasoning } from '../formats/index.js'
import { partsTokens } from '../parts/tokens.js'
import { partsTokensIn } from './sent-parts.js'

/** Copies without reasoning, by their message: the same copy each time, so that what is kept by message is found again. */
const bare = new WeakMap<Message, Message>()

function withoutReasoning(message: Message): Message {
  const known = bare.get(message)
  if (known !== undefined) return known
  const tokens = message.tokens - message.reasoningTokens
  const copy = { ...message, thinking: [], tokens, reasoningTokens: 0 }
  bare.set(message, copy)
  return copy
}

/** Messages as a format sends them, by what they are in the store; and of which format those are. */
const sent = new WeakMap<Message, Map<FormatName, Message>>()
const formatOf = new WeakMap<Message, FormatName>()

/**
 * A message as a format sends it: without its reasoning where the format carries none, and with its parts by the rule of the
 * format, so that nobody counts what is not sent. The same copy each time.
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

/** Messages as a format sends them; the very same list where it sends all of them as they are. */
export function sentMessages(format: FormatName, messages: readonly Message[]): readonly Message[] {
  const isSame = messages.every((message) => sentIn(format, message) === message)
  return isSame ? messages : messages.map((message) => sentIn(format, message))
}

/**
 * Drops reasoning of turns that are over, oldest first, until `tokensOver` tokens are saved or none is left. Providers
 * demand the reasoning of the turn that is still under way alone: Anthropic's API leaves out that of earlier turns itself.
 * (https://docs.anthropic.com/en/docs/build-with-claude/extended-thinking, "Preserving thinking blocks")
 *
 * @param isAnswered whether a new message of the user follows, so that all turns are over
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
