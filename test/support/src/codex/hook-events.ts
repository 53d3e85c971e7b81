import { hookEvents } from '../claude-code/hook-events.js'
import { type CodexHookInput, hookInputSchema } from './hook-schemas.js'

/** An event, and the text of the output in it. */
export interface RecordedEvent {
  readonly event: CodexHookInput
  readonly original: string | null
}

interface Surroundings {
  readonly session: string
  readonly transcript: string | null
  readonly cwd: string
}

/** The events of a session that Claude Code recorded, as hooks of Codex would have been given them: none for failed calls. */
export function codexEvents(lines: readonly string[], { session, transcript, cwd }: Surroundings): RecordedEvent[] {
  return hookEvents(lines, { session, transcript: '', cwd }).flatMap(({ event, original }) => {
    const { hook_event_name: name, prompt_id = 'before', ...given } = event
    if (name === 'PostToolUseFailure') return []
    const common = { hook_event_name: name, session_id: session, transcript_path: transcript, cwd }
    const more = { model: 'gpt-5', permission_mode: 'default', turn_id: prompt_id }
    const { turn_id: _turn, ...ofSession } = more
    const { permission_mode: _mode, ...ofCompaction } = more
    const fields = {
      SessionStart: { ...ofSession, source: given['source'] },
      UserPromptSubmit: { ...more, prompt: given['prompt'] },
      PostToolUse: {
        ...more,
        tool_name: given['tool_name'],
        tool_input: given['tool_input'],
        tool_use_id: given['tool_use_id'],
        tool_response: original ?? given['tool_response'],
      },
      Stop: { ...more, stop_hook_active: false, last_assistant_message: given['last_assistant_message'] },
      PreCompact: { ...ofCompaction, trigger: given['trigger'] },
      SessionEnd: { reason: 'other' },
    }[name]
    return [{ event: hookInputSchema.parse({ ...common, ...fields }), original }]
  })
}
