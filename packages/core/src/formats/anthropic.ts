import type {
  AnthropicBlock,
  AnthropicImageType,
  AnthropicMedia,
  AnthropicMessage,
  AnthropicText,
} from '@heddle/contracts'
import { remembered } from '../conversation/remembered.js'
import { withCacheMarks } from './anthropic-cache.js'
import { anthropicFaults } from './anthropic-rules.js'
import { argumentsObject, sentCallId, sentToolName } from './calls.js'
import type { Format, RenderOptions } from './format.js'
import type { NeutralMessage, NeutralPart } from './neutral-message.js'
import { slotOf, spoken } from './part-delivery.js'
import { MessageReader, type Piece } from './parts.js'
import { isBlank, markSystemNote, NO_OUTPUT_TEXT, OPENING_TEXT, trimTrailing, unmarkSystemNote } from './texts.js'
import { wholeThinking } from './thinking.js'

const TOOL_NAME_CHARACTERS_MAX = 128

const toSharedBlocks = remembered(toAnthropicBlocks)

/**
 * Anthropic's Messages API: turns alternate and start with the user, all results of parallel calls are at the start of
 * the user turn after them, reasoning is first in an assistant turn or left out whole. System messages at the start
 * become blocks of the system prompt; later ones become marked user text, since the API has no place for them.
 */
export const anthropic: Format = {
  name: 'anthropic',
  carriesReasoning: true,
  render: toAnthropic,
  alone(message) {
    const content = toSharedBlocks(message)
    return content.length === 0 ? null : { content }
  },
  opening: anthropicOpening(),
  faults: anthropicFaults,
  pieces({ system, messages }) {
    const blocks = Array.isArray(system) ? system.map((block) => ({ role: 'system', block })) : []
    const turns = messages.flatMap(({ role, content }) =>
      (content as unknown as AnthropicBlock[]).map((block): Piece => ({ role: String(role), block })),
    )
    return [...blocks, ...turns]
  },
  read,
}

export function toAnthropic(messages: readonly NeutralMessage[], options: RenderOptions = {}) {
  const firstTurn = messages.findIndex((message) => message.role !== 'system')
  const leading = firstTurn < 0 ? messages : messages.slice(0, firstTurn)
  const system = leading.map((message) => textBlocks(message.content.toWellFormed()))
  const turns: AnthropicMessage[] = []
  const whole = messages.slice(leading.length).map((message) => appendTurn(turns, message))
  if (turns[0]?.role !== 'user') turns.unshift(anthropicOpening())
  const trimmed = trimFinalTurn(turns)
  const placed = whole.map((blocks) => blocks.map((block) => (block === trimmed?.from ? trimmed.to : block)))
  const marked = withCacheMarks({ system: system.flat(), turns, placed: [...system, ...placed] }, options)
  return {
    system: marked.system.length > 0 ? marked.system : null,
    messages: marked.turns,
    counts: [...system, ...placed].map((blocks) => blocks.length),
  }
}

export function anthropicOpening(): AnthropicMessage {
  return { role: 'user', content: [{ type: 'text', text: OPENING_TEXT }] }
}

/** The blocks of one message, independent of its neighbors; empty if the message is empty. */
export function toAnthropicBlocks(message: NeutralMessage): AnthropicBlock[] {
  const said = spoken('anthropic', message)
  if (typeof said !== 'string') {
    const blocks = said.flatMap(toMedia)
    return message.role === 'tool_result' ? [toResultBlock(message, blocks)] : blocks
  }
  const text = said
  if (message.role === 'tool_result') return [toResultBlock(message, text)]
  if (message.role === 'system') return textBlocks(isBlank(text) ? '' : markSystemNote(text))
  if (message.role === 'user') return textBlocks(text)
  const calls = (message.toolCalls ?? []).map(
    (call): AnthropicBlock => ({
      type: 'tool_use',
      id: sentCallId(call.id),
      name: sentToolName(call.name, TOOL_NAME_CHARACTERS_MAX),
      input: argumentsObject(call.arguments),
    }),
  )
  const spokenAndCalled = [...textBlocks(text), ...calls]
  // A turn may not end with reasoning, so reasoning without a following block is left out.
  return spokenAndCalled.length > 0 ? [...toThinkingBlocks(message), ...spokenAndCalled] : []
}

/** @returns the blocks that the message became */
function appendTurn(turns: AnthropicMessage[], message: NeutralMessage): AnthropicBlock[] {
  const blocks = toSharedBlocks(message)
  if (blocks.length === 0) return []
  const role = message.role === 'assistant' ? 'assistant' : 'user'
  const last = turns.at(-1)
  if (last?.role !== role) {
    turns.push({ role, content: [...blocks] })
    return blocks
  }
  // Reasoning must start its turn: if two assistant messages are merged, the later one's is left out whole.
  const added = blocks.filter((block) => block.type !== 'thinking' && block.type !== 'redacted_thinking')
  last.content.push(...added)
  return added
}

/**
 * The API refuses white space at the end of an answer that the model should continue. Blocks are shared between contexts, so
 * the last one is replaced.
 *
 * @returns the block and its replacement; null if it stays
 */
function trimFinalTurn(
  turns: AnthropicMessage[],
): { readonly from: AnthropicBlock; readonly to: AnthropicText } | null {
  const turn = turns.at(-1)
  const from = turn?.role === 'assistant' ? turn.content.at(-1) : undefined
  if (turn === undefined || from?.type !== 'text') return null
  const to = { ...from, text: trimTrailing(from.text) }
  turn.content.splice(-1, 1, to)
  return { from, to }
}

function textBlocks(text: string): AnthropicText[] {
  return isBlank(text) ? [] : [{ type: 'text', text }]
}

function toMedia(said: string | NeutralPart): (AnthropicText | AnthropicMedia)[] {
  if (typeof said === 'string') return textBlocks(said)
  const { type, mediaType, url, name } = said
  const data = slotOf(said, 'anthropic')
  if (type === 'image') {
    const source =
      url === undefined
        ? { type: 'base64' as const, media_type: mediaType as AnthropicImageType, data }
        : { type: 'url' as const, url }
    return [{ type, source }]
  }
  const source =
    url === undefined
      ? { type: 'base64' as const, media_type: 'application/pdf' as const, data }
      : { type: 'url' as const, url }
  return [{ type: 'document', source, ...(name !== undefined && !isBlank(name) && { title: name.toWellFormed() }) }]
}

function toResultBlock(message: NeutralMessage, said: string | (AnthropicText | AnthropicMedia)[]): AnthropicBlock {
  const content = typeof said === 'string' && isBlank(said) ? (message.isError ? NO_OUTPUT_TEXT : null) : said
  return {
    type: 'tool_result',
    tool_use_id: sentCallId(message.toolCallId ?? ''),
    ...(content !== null && { content }),
    ...(message.isError && { is_error: true }),
  }
}

function toThinkingBlocks(message: NeutralMessage): AnthropicBlock[] {
  return wholeThinking(message).map((block) =>
    block.redacted
      ? { type: 'redacted_thinking', data: block.redacted }
      : { type: 'thinking', thinking: block.text, signature: block.signature ?? '' },
  )
}

function read(pieces: readonly Piece[]): NeutralMessage | null {
  const reader = new MessageReader()
  for (const { role, block: given } of pieces) {
    const block = given as AnthropicBlock
    switch (block.type) {
      case 'text': {
        const note = role === 'user' ? unmarkSystemNote(block.text) : null
        reader.say(note === null ? (role as 'system' | 'user' | 'assistant') : 'system', note ?? block.text)
        break
      }
      case 'thinking':
        reader.think({ text: block.thinking, signature: block.signature })
        break
      case 'redacted_thinking':
        reader.think({ text: '', redacted: block.data })
        break
      case 'tool_use':
        reader.call({ id: block.id, name: block.name, arguments: block.input })
        break
      case 'tool_result':
        reader.answer(textOf(block.content ?? ''), {
          toolCallId: block.tool_use_id,
          ...(block.is_error && { isError: true }),
        })
    }
  }
  return reader.message()
}

function textOf(content: string | (AnthropicText | AnthropicMedia)[]): string {
  if (typeof content === 'string') return content
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('')
}
