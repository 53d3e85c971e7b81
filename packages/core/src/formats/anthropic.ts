import { argumentsObject, type JsonObject, sentCallId, sentToolName } from './calls.js'
import type { NeutralMessage } from './neutral.js'
import { isBlank, NO_OUTPUT_TEXT, OPENING_TEXT, trimTrailing } from './texts.js'

const TOOL_NAME_CHARACTERS_MAX = 128

export type AnthropicBlock =
  | { type: 'text'; text: string }
  | { type: 'thinking'; thinking: string; signature: string }
  | { type: 'redacted_thinking'; data: string }
  | { type: 'tool_use'; id: string; name: string; input: JsonObject }
  | { type: 'tool_result'; tool_use_id: string; content?: string; is_error?: true }

export type AnthropicMessage = { role: 'user' | 'assistant'; content: AnthropicBlock[] }

/**
 * A system prompt and messages for Anthropic's Messages API: turns alternate and open with the user, results open the
 * user turn after their calls, reasoning opens an assistant turn or is left out. System messages at the start become the
 * system prompt; later ones are user text that is marked, since the API has no place for them.
 *
 * @param messages well formed; see {@link NeutralMessage}
 */
export function toAnthropic(messages: readonly NeutralMessage[]): {
  system: string | null
  messages: AnthropicMessage[]
} {
  const firstTurn = messages.findIndex((message) => message.role !== 'system')
  const leading = firstTurn < 0 ? messages : messages.slice(0, firstTurn)
  const system = leading.map((message) => message.content.toWellFormed()).filter((text) => !isBlank(text))
  const turns: AnthropicMessage[] = []
  for (const message of messages.slice(leading.length)) appendTurn(turns, message)
  if (turns[0]?.role !== 'user') turns.unshift(anthropicOpening())
  trimFinalTurn(turns)
  return { system: system.length > 0 ? system.join('\n\n') : null, messages: turns }
}

export function anthropicOpening(): AnthropicMessage {
  return { role: 'user', content: [{ type: 'text', text: OPENING_TEXT }] }
}

/** The blocks of one message, whatever stands around it; none where it says nothing. */
export function toAnthropicBlocks(message: NeutralMessage): AnthropicBlock[] {
  const text = message.content.toWellFormed()
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
  const said = [...textBlocks(text), ...calls]
  // A turn may not end with reasoning, so reasoning that nothing follows is left out.
  return said.length > 0 ? [...toThinkingBlocks(message), ...said] : []
}

function appendTurn(turns: AnthropicMessage[], message: NeutralMessage): void {
  const blocks = toAnthropicBlocks(message)
  if (blocks.length === 0) return
  const role = message.role === 'assistant' ? 'assistant' : 'user'
  const last = turns.at(-1)
  if (last?.role !== role) turns.push({ role, content: blocks })
  // Reasoning must open its turn: where two assistant messages become one turn, the later one's is left out whole.
  else last.content.push(...blocks.filter((block) => block.type !== 'thinking' && block.type !== 'redacted_thinking'))
}

/** The API refuses white space at the end of an answer that the model is to continue. */
function trimFinalTurn(turns: AnthropicMessage[]): void {
  const turn = turns.at(-1)
  const block = turn?.role === 'assistant' ? turn.content.at(-1) : undefined
  if (block?.type === 'text') block.text = trimTrailing(block.text)
}

function textBlocks(text: string): AnthropicBlock[] {
  return isBlank(text) ? [] : [{ type: 'text', text }]
}

function markSystemNote(text: string): string {
  return `<system-note>\n${text}\n</system-note>`
}

function toResultBlock(message: NeutralMessage, text: string): AnthropicBlock {
  const content = isBlank(text) ? (message.isError ? NO_OUTPUT_TEXT : null) : text
  return {
    type: 'tool_result',
    tool_use_id: sentCallId(message.toolCallId ?? ''),
    ...(content !== null && { content }),
    ...(message.isError && { is_error: true }),
  }
}

/** Signatures cover the reasoning of a message as a whole: one block without its signature makes all of it unusable. */
function toThinkingBlocks(message: NeutralMessage): AnthropicBlock[] {
  const blocks: AnthropicBlock[] = []
  for (const block of message.thinking ?? []) {
    if (block.redacted) blocks.push({ type: 'redacted_thinking', data: block.redacted })
    else if (block.signature && block.text.isWellFormed()) {
      blocks.push({ type: 'thinking', thinking: block.text, signature: block.signature })
    } else return []
  }
  return blocks
}
