import { areParts, isAnthropicMedia } from './media.js'

/**
 * The rules of Anthropic's Messages API for a system prompt and messages, as its API reference and its error messages
 * state them. Written from those alone: it shares nothing with the renderer that it judges.
 */
const CALL_ID = /^[a-zA-Z0-9_-]+$/
const NAME = /^[a-zA-Z0-9_-]{1,128}$/

type Block = Record<string, unknown>

/** Violations, one sentence each; empty when the API would accept the request. */
export function validateAnthropic(request: { system: unknown; messages: unknown }): string[] {
  const { system, messages } = request
  const violations: string[] = []
  violations.push(...systemViolations(system), ...cacheViolations(system, messages))
  if (!Array.isArray(messages)) return [...violations, 'messages is no list']
  if (messages.length === 0) return [...violations, 'messages: at least one message is required']

  const usedIds = new Set<string>()
  let previousRole: unknown
  let awaited: string[] = []
  for (const [index, message] of messages.entries()) {
    const report = (rule: string) => violations.push(`messages.${index}: ${rule}`)
    if (!isObject(message)) {
      report('is no object')
      continue
    }
    const { role, content } = message
    const isFinal = index === messages.length - 1
    if (role !== 'user' && role !== 'assistant') report('unexpected role')
    if (index === 0 && role !== 'user') report('first message must use the "user" role')
    if (role === previousRole) report('roles must alternate between "user" and "assistant"')
    previousRole = role
    const blocks: Block[] = typeof content === 'string' ? [{ type: 'text', text: content }] : blocksOf(content, report)
    if (blocks.length === 0) report('all messages must have non-empty content')
    for (const block of blocks) for (const rule of blockViolations(block, role)) report(rule)
    for (const text of textsOf(blocks)) if (!text.isWellFormed()) report('holds a lone surrogate')

    for (const rule of resultViolations(blocks, awaited)) report(rule)
    awaited = blocks.filter((block) => block['type'] === 'tool_use').map((block) => String(block['id']))
    for (const id of awaited) {
      if (usedIds.has(id)) report('`tool_use` ids must be unique')
      usedIds.add(id)
    }
    if (role === 'assistant') for (const rule of assistantViolations(blocks, isFinal)) report(rule)
  }
  if (awaited.length > 0) violations.push('`tool_use` ids were found without `tool_result` blocks immediately after')
  return violations
}

/** The system prompt can be absent, a text, or text blocks; an empty list is not allowed. */
function systemViolations(system: unknown): string[] {
  if (system === null) return []
  const blocks = typeof system === 'string' ? [{ type: 'text', text: system }] : system
  if (!Array.isArray(blocks) || blocks.length === 0) return ['system is neither a text nor a list of blocks']
  return blocks.flatMap((block: unknown) => {
    const text = isObject(block) && block['type'] === 'text' ? block['text'] : undefined
    if (typeof text !== 'string' || isBlank(text)) return ['system: text content blocks must be non-empty']
    return text.isWellFormed() ? [] : ['system holds a lone surrogate']
  })
}

/** "A maximum of 4 blocks with cache_control may be provided"; reasoning cannot have one. */
function cacheViolations(system: unknown, messages: unknown): string[] {
  const contents = Array.isArray(messages)
    ? messages.map((message) => (isObject(message) ? message['content'] : null))
    : []
  const blocks = [system, ...contents].flatMap((list) => (Array.isArray(list) ? list.filter(isObject) : []))
  const marked = blocks.filter((block) => block['cache_control'] !== undefined)
  return [
    ...(marked.length > 4 ? ['A maximum of 4 blocks with cache_control may be provided'] : []),
    ...(marked.some(({ type }) => type === 'thinking' || type === 'redacted_thinking')
      ? ['thinking blocks cannot have cache_control']
      : []),
    ...(marked.some(({ cache_control: mark }) => !isObject(mark) || mark['type'] !== 'ephemeral')
      ? ['cache_control.type must be ephemeral']
      : []),
  ]
}

function blocksOf(content: unknown, report: (rule: string) => void): Block[] {
  if (Array.isArray(content) && content.every(isObject)) return content
  report('content must be a text or a list of blocks')
  return []
}

function blockViolations(block: Block, role: unknown): string[] {
  const { type } = block
  switch (type) {
    case 'text':
      if (typeof block['text'] !== 'string') return ['text: field required']
      return isBlank(block['text']) ? ['text content blocks must contain non-whitespace text'] : []
    case 'image':
    case 'document':
      if (role !== 'user') return ['images and documents can only be in `user` messages']
      return isAnthropicMedia(block) ? [] : ['source: input should be a base64 or url source of a known media type']
    case 'thinking':
      return role === 'assistant' && typeof block['thinking'] === 'string' && isFilled(block['signature'])
        ? []
        : ['a thinking block needs an assistant, its text and its signature']
    case 'redacted_thinking':
      return role === 'assistant' && isFilled(block['data'])
        ? []
        : ['a redacted_thinking block needs an assistant and data']
    case 'tool_use':
      return [
        ...(role === 'assistant' ? [] : ['`tool_use` blocks can only be in `assistant` messages']),
        ...(typeof block['id'] === 'string' && CALL_ID.test(block['id'])
          ? []
          : ['tool_use.id does not match the pattern']),
        ...(typeof block['name'] === 'string' && NAME.test(block['name'])
          ? []
          : ['tool_use.name does not match the pattern']),
        ...(isObject(block['input']) ? [] : ['tool_use.input: input should be a valid dictionary']),
      ]
    case 'tool_result': {
      const { content, tool_use_id: id, is_error: isError } = block
      return [
        ...(role === 'user' ? [] : ['`tool_result` blocks can only be in `user` messages']),
        ...(typeof id === 'string' && CALL_ID.test(id) ? [] : ['tool_use_id does not match the pattern']),
        ...(content === undefined || typeof content === 'string' || areParts(content, isResultPart)
          ? []
          : ['tool_result content must be a text or text, image and document blocks']),
        ...(isError === undefined || typeof isError === 'boolean' ? [] : ['is_error must be a boolean']),
        ...(isError === true && (typeof content !== 'string' || isBlank(content))
          ? ['content cannot be empty if `is_error` is true']
          : []),
      ]
    }
    default:
      return ['unknown block type']
  }
}

function isResultPart(part: Block): boolean {
  return part['type'] === 'text' ? isFilled(part['text']) && !isBlank(String(part['text'])) : isAnthropicMedia(part)
}

/** Results come first in the turn right after their calls: all of them, and no others. */
function resultViolations(blocks: Block[], awaited: string[]): string[] {
  const results = blocks.filter((block) => block['type'] === 'tool_result')
  const ids = results.map((block) => String(block['tool_use_id']))
  return [
    ...(blocks.slice(0, results.length).some((block) => block['type'] !== 'tool_result')
      ? ['`tool_result` blocks must come first in their message']
      : []),
    ...(awaited.some((id) => !ids.includes(id))
      ? ['`tool_use` ids were found without `tool_result` blocks immediately after']
      : []),
    ...(ids.some((id) => !awaited.includes(id)) ? ['unexpected `tool_use_id` found in `tool_result` blocks'] : []),
    ...(new Set(ids).size < ids.length ? ['each `tool_use` must have a single result'] : []),
  ]
}

function assistantViolations(blocks: Block[], isFinal: boolean): string[] {
  const isThinking = (block: Block | undefined) =>
    block?.['type'] === 'thinking' || block?.['type'] === 'redacted_thinking'
  const firstOther = blocks.findIndex((block) => !isThinking(block))
  const last = blocks.at(-1)
  const text = last?.['type'] === 'text' ? String(last['text']) : ''
  return [
    ...(isThinking(last) ? ['the final block in an assistant message cannot be `thinking`'] : []),
    ...(firstOther >= 0 && blocks.slice(firstOther).some(isThinking) ? ['thinking must come first'] : []),
    ...(isFinal && /\s$/.test(text) ? ['final assistant content cannot end with trailing whitespace'] : []),
  ]
}

/** As a server in another language reads it: some treat control characters as white space. */
function isBlank(text: string): boolean {
  for (const character of text) if (!/[\s\p{Cc}]/u.test(character)) return false
  return true
}

function isFilled(value: unknown): boolean {
  return typeof value === 'string' && value !== ''
}

function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([key, field]) => [key, ...textsOf(field)])
    : []
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
