import { areParts, isAiSdkOutputPart, isAiSdkUserPart } from './media.js'

/**
 * The AI SDK's rules for its `system` option and its `ModelMessage`s, as its reference states them, and what its
 * conversion to providers refuses: "tool result is missing for tool call". Written from those alone.
 */
type Part = Record<string, unknown>

/** Violations, one sentence each; empty when `generateText` would accept them. */
export function validateAiSdk({ system, messages }: { system: unknown; messages: unknown }): string[] {
  const violations: string[] = []
  if (system !== null && (typeof system !== 'string' || system.trim() === '')) violations.push('system must be a text')
  if (!Array.isArray(messages)) return [...violations, 'messages is no list']
  if (messages.length === 0) return [...violations, 'messages must not be empty']
  const open = new Set<string>()
  const called = new Set<string>()
  for (const [index, message] of (messages as { role?: unknown; content?: unknown }[]).entries()) {
    const report = (rule: string) => violations.push(`messages[${index}]: ${rule}`)
    const { role, content } = message
    const parts: Part[] = Array.isArray(content) ? (content as Part[]) : []
    for (const text of textsOf(message)) if (!text.isWellFormed()) report('holds a lone surrogate')
    if (open.size > 0 && role !== 'tool') {
      report('tool result is missing for a tool call')
      open.clear()
    }
    if (role === 'user') {
      const isSaid = typeof content === 'string' ? content !== '' : areParts(content, isAiSdkUserPart)
      if (!isSaid) report('content of a user must be a text or parts')
    } else if (role === 'assistant') {
      if (parts.length === 0) report('content of an assistant must have parts')
      for (const part of parts) {
        const { type, text, toolCallId, toolName, input } = part
        if (type === 'text' || type === 'reasoning') {
          if (typeof text !== 'string') report('text is missing')
          if (type === 'text' && text === '') report('text is empty')
        } else if (type === 'tool-call') {
          if (typeof toolCallId !== 'string' || typeof toolName !== 'string' || !/^[\w-]{1,64}$/.test(toolName))
            report('a tool call needs its id and a name that providers take')
          if (typeof input !== 'object' || input === null || Array.isArray(input)) report('input must be an object')
          if (called.has(String(toolCallId))) report('a tool call id comes twice')
          called.add(String(toolCallId))
          open.add(String(toolCallId))
        } else report('has an unknown part')
      }
    } else if (role === 'tool') {
      if (parts.length === 0) report('content of a tool must have parts')
      for (const { type, toolCallId, toolName, output } of parts) {
        const { type: kind, value } = (output ?? {}) as Part
        if (type !== 'tool-result' || typeof toolName !== 'string') report('is no tool result')
        if (!open.delete(String(toolCallId))) report('answers no open tool call')
        const isOutput =
          kind === 'content'
            ? areParts(value, isAiSdkOutputPart)
            : (kind === 'text' || kind === 'error-text') && typeof value === 'string'
        if (!isOutput) report('has no output')
      }
    } else report('has an unexpected role')
  }
  if (open.size > 0) violations.push('tool result is missing for a tool call')
  return violations
}

function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsOf) : []
}
