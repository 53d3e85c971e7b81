import type { MessageInput } from '@heddle/contracts'
import { isJsonRecord } from './response-fields.js'
import type { CallEvent, SessionEvent } from './session-event.js'

/** A message that an event records, without its id. */
export interface RecordedMessage {
  /** The same for a repeat of the event; null if the event has nothing that identifies it. */
  readonly identity: string | null
  readonly input: Omit<MessageInput, 'id'>
}

/** The messages that an event says; none for one that only marks a moment of its session. */
export function recordedMessages(event: SessionEvent): RecordedMessage[] {
  if (event.type === 'called') return callMessages(event)
  if (event.type !== 'said' || event.text.trim() === '') return []
  return [{ identity: event.identity, input: { role: event.role, content: event.text, ...whereOf(event) } }]
}

/** The identity of the result of a call, as {@link recordedMessages} gives it. */
export function resultIdentity({ id }: Pick<CallEvent, 'id'>): string {
  return `hook ${id} result`
}

function callMessages(event: CallEvent): RecordedMessage[] {
  const { id, tool: name, input: given, text: content, isError } = event
  const use = {
    role: 'tool_use' as const,
    content: '',
    toolCalls: [{ id, name, arguments: isJsonRecord(given) ? (given as never) : JSON.stringify(given ?? {}) }],
    ...whereOf(event),
  }
  const result = {
    role: 'tool_result' as const,
    content,
    toolCallId: id,
    toolName: name,
    sourceId: id,
    ...(isError && { isError }),
    ...whereOf(event),
  }
  return [
    { identity: `hook ${id}`, input: use },
    { identity: resultIdentity(event), input: result },
  ]
}

function whereOf({ cwd, timestamp }: SessionEvent): Pick<MessageInput, 'metadata' | 'sentAt'> {
  return { ...(cwd !== undefined && { metadata: { cwd } }), ...(timestamp !== undefined && { sentAt: timestamp }) }
}
