import type { Message, Part, TextPart, ToolPart } from '@opencode-ai/sdk'

/** An event as the gateway receives it (`POST /v1/hooks/opencode`). */
export type SessionEvent = {
  session: string
  directory?: string
  /** When it happened, of an event that is sent afterwards. */
  sentAt?: string
} & (
  | { type: 'said'; role: 'user' | 'assistant'; id: string; text: string }
  | { type: 'called'; id: string; tool: string; input: unknown; output: string; isError?: boolean }
  | { type: 'compacting' }
  | { type: 'resumed' }
  | { type: 'ended'; reason: string }
)

export interface SessionMessage {
  info: Message
  parts: Part[]
}

/** The words that a user typed, without the texts that OpenCode adds for files and agents. */
export function typedText(parts: readonly Part[]): string {
  return parts.flatMap((part) => (isTyped(part) ? [part.text] : [])).join('\n')
}

function isTyped(part: Part): part is TextPart {
  return part.type === 'text' && part.synthetic !== true && part.ignored !== true
}

/** A call that failed: OpenCode runs no hook after it. */
export function failedCall(part: Part): SessionEvent | null {
  return part.type === 'tool' && part.state.status === 'error' ? calledEvent(part) : null
}

/** The words and calls of a session since a moment, from the messages that OpenCode keeps. */
export function eventsSince(messages: readonly SessionMessage[], sinceMs: number): SessionEvent[] {
  return messages.flatMap(({ info, parts }) => {
    const session = info.sessionID
    if (info.role === 'user') {
      const [text, atMs] = [typedText(parts), info.time.created]
      if (text === '' || atMs < sinceMs) return []
      return [{ type: 'said' as const, role: 'user' as const, id: info.id, text, session, ...at(atMs) }]
    }
    // The summary of a compaction is OpenCode's own.
    if (info.summary === true) return []
    return parts.flatMap((part) => partEvent(part, sinceMs))
  })
}

function partEvent(part: Part, sinceMs: number): SessionEvent[] {
  if (part.type === 'tool') {
    const event = calledEvent(part)
    const { state } = part
    const isEnded = state.status === 'completed' || state.status === 'error'
    return event === null || !isEnded || state.time.end < sinceMs ? [] : [{ ...event, ...at(state.time.end) }]
  }
  if (!isTyped(part) || part.text.trim() === '') return []
  const endMs = part.time?.end
  if (endMs === undefined || endMs < sinceMs) return []
  return [{ type: 'said', role: 'assistant', id: part.id, text: part.text, session: part.sessionID, ...at(endMs) }]
}

function calledEvent({ callID: id, tool, state, sessionID: session }: ToolPart): SessionEvent | null {
  const { input } = state
  if (state.status === 'completed') return { type: 'called', id, tool, input, output: state.output, session }
  if (state.status === 'error') return { type: 'called', id, tool, input, output: state.error, isError: true, session }
  return null
}

function at(ms: number): { sentAt: string } {
  return { sentAt: new Date(ms).toISOString() }
}
