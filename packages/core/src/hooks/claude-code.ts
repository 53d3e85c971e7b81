import type { ClaudeCodeEvent, ClaudeCodeHookOutput } from '@heddle/contracts'
import { fingerprint } from '../conversation/fingerprint.js'
import type { HookAnswer } from './answer.js'
import { isReadAgain, replaceableOutput } from './claude-code-outputs.js'
import { responseText } from './claude-code-texts.js'
import { isOwnTool } from './own-tools.js'
import { type SessionEvent, threadOfSession } from './session-event.js'

export function readClaudeCodeEvent(event: ClaudeCodeEvent): SessionEvent {
  const where = { thread: threadOfSession(event), cwd: event.cwd, timestamp: event.timestamp }
  switch (event.hook_event_name) {
    case 'UserPromptSubmit':
      return { ...where, type: 'said', role: 'user', text: event.prompt, identity: said(event, event.prompt) }
    case 'Stop': {
      const text = event.last_assistant_message ?? ''
      return { ...where, type: 'said', role: 'assistant', text, identity: said(event, text) }
    }
    case 'PostToolUse':
    case 'PostToolUseFailure':
      return readCall(event, where)
    case 'PreCompact':
      return { ...where, type: 'compacting', wantsText: false }
    case 'SessionStart':
      return { ...where, type: 'started', wantsText: event.source === 'compact' || event.source === 'resume' }
    case 'SessionEnd':
      return { ...where, type: 'ended', reason: event.reason }
  }
}

type ToolEvent = Extract<ClaudeCodeEvent, { hook_event_name: 'PostToolUse' | 'PostToolUseFailure' }>

function readCall(event: ToolEvent, where: Pick<SessionEvent, 'thread' | 'cwd' | 'timestamp'>): SessionEvent {
  const { tool_use_id: id, tool_name: tool, tool_input: input } = event
  const called = { ...where, type: 'called', id, tool, input, wantsReference: false } as const
  if (event.hook_event_name === 'PostToolUseFailure') {
    return { ...called, text: event.error, isError: true, replaceable: null }
  }
  // A recalled text is stored already.
  if (isOwnTool(tool)) return { ...where, type: 'noted' }
  const text = responseText(tool, event.tool_response)
  const replaceable = isReadAgain(event) ? null : replaceableOutput(tool, event.tool_response)
  return { ...called, text, isError: false, replaceable }
}

/** One prompt may be submitted in several parts, and both sides may repeat what they said in another prompt. */
function said({ prompt_id, hook_event_name }: ClaudeCodeEvent, text: string): string | null {
  return prompt_id === undefined ? null : `hook ${hook_event_name} ${prompt_id} ${fingerprint(text)}`
}

export function claudeCodeOutput({ stub, text: additionalContext }: HookAnswer): ClaudeCodeHookOutput {
  if (stub !== null) return { hookSpecificOutput: { hookEventName: 'PostToolUse', updatedToolOutput: stub.output } }
  if (additionalContext === '') return {}
  return { hookSpecificOutput: { hookEventName: 'SessionStart', additionalContext } }
}
