import type { JsonObject } from '@heddle/contracts'
import type { Message } from '../conversation/message.js'
import { messageReference } from '../conversation/references.js'
import { contentWithLines } from '../parts/line.js'
import type { SnapshotFile, SnapshotMessage } from './file.js'

/** A message with the fields stored beside it. */
export type SavedMessage = Message & {
  readonly sourceId: string | null
  readonly metadata: Readonly<Record<string, unknown>> | null
}

/** A message as a snapshot's file has it. A restored one is saved as its original, with the original time. */
export function toSnapshotMessage(threadId: string, message: SavedMessage): SnapshotMessage {
  const { id, orderedAtMs } = message.restores ?? message
  const { toolCalls, toolCallId, thinking, toolName, isError, model, pinned, sourceId, metadata } = message
  return {
    id,
    thread_id: threadId,
    role: message.role,
    // Its parts stay with the stored message, under the references in the lines.
    content: contentWithLines(message, messageReference(message.code)),
    ...(toolCalls.length > 0 && { tool_calls: toolCalls }),
    ...(toolCallId !== null && { tool_call_id: toolCallId }),
    timestamp: new Date(orderedAtMs).toISOString(),
    ...(thinking.length > 0 && { thinking }),
    ...(toolName !== null && { tool_name: toolName }),
    ...(isError && { is_error: isError }),
    ...(model !== null && { model }),
    ...(pinned && { pinned }),
    ...(sourceId !== null && { source_id: sourceId }),
    ...(metadata !== null && { metadata: metadata as JsonObject }),
  }
}

/**
 * The reverse of {@link toSnapshotMessage}, as far as a summary needs it: a message without a place in a thread, and without the code of
 * its reference, since it may be gone from its thread.
 */
export function ofSnapshotMessage(saved: SnapshotMessage, place: number): Message {
  const { id, role, content, tool_calls, tool_call_id, thinking, tool_name, is_error, model, pinned } = saved
  return {
    id,
    seq: place + 1,
    code: '',
    role,
    content,
    thinking: thinking ?? [],
    toolCalls: tool_calls ?? [],
    toolCallId: tool_call_id ?? null,
    toolName: tool_name ?? null,
    isError: is_error ?? false,
    orderedAtMs: Date.parse(saved.timestamp),
    ordinal: place,
    model: model ?? null,
    usage: null,
    pinned: pinned ?? false,
    keptAside: null,
    contextId: null,
    tokens: 0,
    reasoningTokens: 0,
    tokensExact: false,
  }
}

/**
 * The text of a snapshot's file, in pieces: the head with one field per line, then one message per line. So the head
 * can be read without the messages, and a hundred megabytes are never one string.
 */
export function* snapshotText({ messages, ...head }: SnapshotFile): Generator<string> {
  yield '{\n'
  for (const [key, value] of Object.entries(head)) yield `  ${JSON.stringify(key)}: ${JSON.stringify(value)},\n`
  yield '  "messages": ['
  for (const [index, message] of messages.entries()) yield `${index === 0 ? '' : ','}\n    ${JSON.stringify(message)}`
  yield '\n  ]\n}\n'
}

/** The number of messages in a snapshot's file, from its head; null if the text is not such a head. */
export function messageCountIn(head: string): number | null {
  // JSON strings contain no line breaks, so a line that begins like this is the field itself.
  const [, count] = /^ {2}"message_count": (\d{1,9}),$/m.exec(head) ?? []
  return count === undefined ? null : Number(count)
}

/** The summary in a snapshot's file, from its head; null if the text is not such a head. */
export function summaryIn(head: string): string | null {
  const [, summary] = /^ {2}"summary": (".*"),$/m.exec(head) ?? []
  return summary === undefined ? null : (JSON.parse(summary) as string)
}
