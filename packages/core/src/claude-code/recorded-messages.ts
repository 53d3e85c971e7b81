import type { ClaudeCodeEvent, MessageInput } from '@heddle/contracts'
import { fingerprint } from '../conversation/fingerprint.js'
import { isJsonRecord } from './response-fields.js'
import { responseText } from './response-text.js'
import { isOwnTool } from './tool-output.js'

/** A message that an event records, without its id. */
export interface RecordedMessage {
  /** The same for a repeat of the event; null if the event has nothing that identifies it. */
  readonly identity: string | null
  readonly input: Omit<MessageInput, 'id'>
}

/** The thread of an event: that of its session, or of the subagent, named as an import names it. */
export function threadOfEvent({ session_id, agent_id }: Pick<ClaudeCodeEvent, 'session_id' | 'agent_id'>): string {
  return agent_id === undefined ? session_id : `${session_id}-agent-${agent_id}`
}

/** The messages that an event says; none for one that only marks a moment of its session. */
export function recordedMessages(event: ClaudeCodeEvent): RecordedMessage[] {
  switch (event.hook_event_name) {
    case 'UserPromptSubmit':
      if (event.prompt.trim() === '') return []
      return [
        { identity: said(event, event.prompt), input: { role: 'user', content: event.prompt, ...whereOf(event) } },
      ]
    case 'Stop': {
      const content = event.last_assistant_message ?? ''
      if (content.trim() === '') return []
      return [{ identity: said(event, content), input: { role: 'assistant', content, ...whereOf(event) } }]
    }
    case 'PostToolUse':
      // A recalled text is stored already.
      if (isOwnTool(event.tool_name)) return []
      return call(event, responseText(event.tool_name, event.tool_response), false)
    case 'PostToolUseFailure':
      return call(event, event.error, true)
    default:
      return []
  }
}

type ToolEvent = Extract<ClaudeCodeEvent, { hook_event_name: 'PostToolUse' | 'PostToolUseFailure' }>

/** The identity of the result of a call, as {@link recordedMessages} gives it. */
export function resultIdentity({ tool_use_id }: Pick<ToolEvent, 'tool_use_id'>): string {
  return `hook ${tool_use_id} result`
}

function call(event: ToolEvent, content: string, isError: boolean): RecordedMessage[] {
  const { tool_use_id: id, tool_name: name, tool_input: given } = event
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

/** One prompt may be submitted in several parts, and both sides may repeat what they said in another prompt. */
function said({ prompt_id, hook_event_name }: ClaudeCodeEvent, text: string): string | null {
  return prompt_id === undefined ? null : `hook ${hook_event_name} ${prompt_id} ${fingerprint(text)}`
}

function whereOf({ cwd, timestamp }: ClaudeCodeEvent): Pick<MessageInput, 'metadata' | 'sentAt'> {
  return { ...(cwd !== undefined && { metadata: { cwd } }), ...(timestamp !== undefined && { sentAt: timestamp }) }
}
