import type { CodexEvent, CodexHookOutput } from '@heddle/contracts'
import { fingerprint } from '../conversation/fingerprint.js'
import type { HookAnswer } from './answer.js'
import { isOwnTool } from './own-tools.js'
import { isJsonRecord } from './response-fields.js'
import { type SessionEvent, threadOfSession } from './session-event.js'
import { blocksText, mcpOutput } from './tool-output.js'

/** Of a text of more bytes Codex shows a preview, and the path of a file with the rest. */
const TEXT_BYTES_MAX = 10_000
/** Of the reason of a block Codex keeps the beginning and the end, 2,500 tokens of 4 bytes in all. */
const STUB_BYTES_MAX = 9_500

export function readCodexEvent(event: CodexEvent): SessionEvent {
  const where = { thread: threadOfSession(event), cwd: event.cwd, timestamp: event.timestamp }
  switch (event.hook_event_name) {
    case 'UserPromptSubmit':
      return { ...where, type: 'said', role: 'user', text: event.prompt, identity: said(event, event.prompt) }
    case 'Stop': {
      const text = event.last_assistant_message ?? ''
      return { ...where, type: 'said', role: 'assistant', text, identity: said(event, text) }
    }
    case 'PostToolUse': {
      const { tool_use_id: id, tool_name: tool, tool_input: input, tool_response: response } = event
      // A recalled text is stored already.
      if (isOwnTool(tool)) return { ...where, type: 'noted' }
      const replaceable = mcpOutput(response)
      const text = replaceable?.text ?? textOf(response)
      const isError = isJsonRecord(response) && response['isError'] === true
      const called = { ...where, type: 'called', id, tool, input, text, isError, wantsReference: false } as const
      const isKept = isError || replaceable === null
      return { ...called, replaceable: isKept ? null : { ...replaceable, stubBytesMax: STUB_BYTES_MAX } }
    }
    case 'PreCompact':
      return { ...where, type: 'compacting', wantsText: false }
    case 'SessionStart':
      return { ...where, type: 'started', wantsText: event.source === 'compact' || event.source === 'resume' }
    case 'SessionEnd':
      return { ...where, type: 'ended', reason: event.reason }
  }
}

function textOf(response: unknown): string {
  return (isJsonRecord(response) ? blocksText(response) : null) ?? JSON.stringify(response ?? '')
}

function said({ turn_id, hook_event_name }: CodexEvent, text: string): string | null {
  return turn_id === undefined ? null : `hook ${hook_event_name} ${turn_id} ${fingerprint(text)}`
}

export function codexOutput({ stub, text }: HookAnswer): CodexHookOutput {
  if (stub !== null) return { decision: 'block', reason: stub.text }
  if (text === '') return {}
  return {
    hookSpecificOutput: { hookEventName: 'SessionStart', additionalContext: withinBytes(text, TEXT_BYTES_MAX) },
  }
}

/** Whole lines from the beginning on, which is most important. */
function withinBytes(text: string, bytesMax: number): string {
  const encoder = new TextEncoder()
  let [kept, bytes] = ['', 0]
  for (const line of text.split('\n')) {
    const added = kept === '' ? line : `\n${line}`
    bytes += encoder.encode(added).length
    if (bytes > bytesMax) break
    kept += added
  }
  return kept
}
