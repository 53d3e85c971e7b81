import { type Response, toolResponse } from './tool-responses.js'

/** An event as a hook of Claude Code is given it (https://code.claude.com/docs/en/hooks#hook-events). */
export type HookEvent = Readonly<Record<string, unknown>> & {
  readonly hook_event_name: string
  readonly session_id: string
}

/** An event, and the text of the output in it. */
export interface RecordedEvent {
  readonly event: HookEvent
  readonly original: string | null
  /** The number of the record that it was made from. */
  readonly record: number
}

interface Block {
  readonly type?: string
  readonly id?: string
  readonly name?: string
  readonly text?: string
  readonly input?: Readonly<Record<string, unknown>>
  readonly tool_use_id?: string
  readonly is_error?: boolean
  readonly content?: unknown
}

interface TranscriptRecord {
  readonly type?: string
  readonly uuid?: string
  readonly isMeta?: boolean
  readonly isSidechain?: boolean
  readonly isCompactSummary?: boolean
  readonly message?: { readonly content?: unknown }
}

/** The events of a recorded session, in the order in which its hooks were given them. */
export function hookEvents(
  lines: readonly string[],
  { session, transcript, cwd }: { readonly session: string; readonly transcript: string; readonly cwd: string },
): RecordedEvent[] {
  const events: RecordedEvent[] = []
  const calls = new Map<string, Block>()
  let promptId: string | undefined
  let reply = ''
  const add = (name: string, fields: object, record: number, original: string | null = null) => {
    const common = { session_id: session, transcript_path: transcript, cwd, ...(promptId && { prompt_id: promptId }) }
    events.push({ event: { ...common, hook_event_name: name, ...fields }, original, record })
  }
  const stop = (at: number) => {
    if (reply !== '') add('Stop', { stop_hook_active: false, last_assistant_message: reply }, at)
    reply = ''
  }
  add('SessionStart', { source: 'startup', model: 'claude-sonnet-5' }, -1)
  for (const [at, line] of lines.entries()) {
    const record = JSON.parse(line) as TranscriptRecord
    const blocks = blocksOf(record)
    if (record.isSidechain === true || record.isMeta === true) continue
    if (record.isCompactSummary === true) {
      add('PreCompact', { trigger: 'auto', custom_instructions: '' }, at)
      add('SessionStart', { source: 'compact', model: 'claude-sonnet-5' }, at)
    } else if (record.type === 'assistant') {
      for (const block of blocks) if (block.type === 'tool_use' && block.id !== undefined) calls.set(block.id, block)
      const text = textOf(blocks)
      reply = text === '' ? reply : text
    } else if (record.type === 'user') {
      const results = blocks.filter(({ type }) => type === 'tool_result')
      for (const result of results) addResult(result, at)
      const prompt = textOf(blocks)
      if (results.length > 0 || prompt === '') continue
      stop(at)
      promptId = record.uuid
      add('UserPromptSubmit', { prompt }, at)
    }
  }
  stop(lines.length)
  add('SessionEnd', { reason: 'other' }, lines.length)
  return events

  function addResult(result: Block, at: number): void {
    const call = calls.get(result.tool_use_id ?? '')
    if (call === undefined) return
    const text = typeof result.content === 'string' ? result.content : textOf((result.content ?? []) as Block[])
    const called = { tool_name: call.name, tool_input: call.input, tool_use_id: call.id, duration_ms: 5 }
    if (result.is_error === true) {
      add('PostToolUseFailure', { ...called, error: text, is_interrupt: false }, at, text)
      return
    }
    const { value, text: original }: Response = toolResponse(call.name ?? '', call.input ?? {}, text)
    add('PostToolUse', { ...called, tool_response: value }, at, original)
  }
}

function blocksOf({ message }: TranscriptRecord): Block[] {
  const content = message?.content
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return Array.isArray(content) ? (content as Block[]) : []
}

function textOf(blocks: readonly Block[]): string {
  return blocks.flatMap(({ type, text }) => (type === 'text' && text !== undefined ? [text] : [])).join('\n')
}
