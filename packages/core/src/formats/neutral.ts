import type { ContextResult, ThinkingBlock } from '@heddle/contracts'
import { remembered } from '../conversation/remembered.js'
import type { Format } from './format.js'
import type { NeutralMessage, NeutralPart } from './neutral-message.js'
import { slotOf } from './part-delivery.js'

const toShared = remembered(toNeutral)

/** Heddle's own format, which can express everything. */
export const neutral: Format = {
  name: 'neutral',
  carriesReasoning: true,
  render: (messages) => ({ system: null, messages: messages.map(toShared), counts: messages.map(() => 1) }),
  alone: toShared,
  opening: null,
  faults: ({ messages }) => checkWellFormed(messages as unknown as NeutralMessage[]),
  pieces: ({ messages }) => messages.map((block) => ({ role: String(block['role']), block })),
  read: ([piece]) => (piece === undefined ? null : (piece.block as unknown as NeutralMessage)),
}

/** A message in the neutral format: its non-empty fields, as JSON. */
export function toNeutral(message: NeutralMessage): ContextResult['messages'][number] {
  return {
    role: message.role,
    content: message.content,
    ...(message.parts && { parts: message.parts.map(toDelivered) }),
    ...(message.thinking && { thinking: message.thinking.map(toNeutralThinking) }),
    ...(message.toolCalls && { toolCalls: [...message.toolCalls] }),
    ...(message.toolCallId !== undefined && { toolCallId: message.toolCallId }),
    ...(message.toolName !== undefined && { toolName: message.toolName }),
    ...(message.isError && { isError: true }),
  }
}

/** A part with its bytes and its metadata. */
function toDelivered(part: NeutralPart): Record<string, string | number> {
  const fields: [string, string | number][] = []
  for (const [name, value] of Object.entries(part)) if (value !== undefined) fields.push([name, value])
  if (part.sha256 !== undefined) fields.push(['data', slotOf(part, 'neutral')])
  return Object.fromEntries(fields)
}

function toNeutralThinking(block: ThinkingBlock) {
  return {
    text: block.text,
    ...(block.signature !== undefined && { signature: block.signature }),
    ...(block.redacted !== undefined && { redacted: block.redacted }),
  }
}

/**
 * Faults that keep a list from being well formed, one sentence each; empty for a well-formed list. The sentences name
 * only positions, so that they can be logged.
 */
export function checkWellFormed(messages: readonly NeutralMessage[]): string[] {
  const faults: string[] = []
  const seen = new Set<string>()
  let awaited: string[] = []
  for (const [index, message] of messages.entries()) {
    if (message.role === 'tool_result') {
      const expected = awaited.shift()
      if (expected === undefined) faults.push(`message ${index} is a result that no call before it waits for`)
      else if (message.toolCallId !== expected) faults.push(`message ${index} does not answer the next open call`)
      continue
    }
    if (awaited.length > 0) {
      faults.push(`message ${index} comes before ${awaited.length} open calls are answered`)
      awaited = []
    }
    const calls = message.toolCalls ?? []
    if (calls.length > 0 && message.role !== 'assistant')
      faults.push(`message ${index} has calls but is not an assistant message`)
    for (const call of calls) {
      if (seen.has(call.id)) faults.push(`message ${index} uses a call id for the second time`)
      seen.add(call.id)
    }
    awaited = calls.map((call) => call.id)
  }
  if (awaited.length > 0) faults.push(`the list ends with ${awaited.length} open calls`)
  return faults
}
