import { z } from 'zod'
import { named } from '../http/common.js'
import { foreignNameSchema, nameSchema, timeSchema } from '../primitives/names.js'
import { PATH_CHARACTERS_MAX, SESSION_CHARACTERS_MAX } from './options.js'

/** Fields of every event. Others, such as those of later versions of Codex, are accepted and not read. */
const commonFields = {
  /** The name of the thread. */
  session_id: nameSchema.max(SESSION_CHARACTERS_MAX),
  transcript_path: z.string().max(PATH_CHARACTERS_MAX).nullish(),
  cwd: z.string().max(PATH_CHARACTERS_MAX).optional(),
  /** The prompt that is being processed. */
  turn_id: foreignNameSchema(SESSION_CHARACTERS_MAX).optional(),
  /** Within a subagent, which has a thread of its own. */
  agent_id: nameSchema.max(SESSION_CHARACTERS_MAX).optional(),
  /** When it happened, of an event that is sent afterwards. Not a field of Codex. */
  timestamp: timeSchema.optional(),
}

const eventOf = <Name extends string, Fields extends z.ZodRawShape>(name: Name, fields: Fields) =>
  z.looseObject({ hook_event_name: z.literal(name), ...commonFields, ...fields })

export const codexEventSchema = named(
  'CodexEvent',
  z.discriminatedUnion('hook_event_name', [
    eventOf('SessionStart', { source: z.string() }),
    eventOf('UserPromptSubmit', { prompt: z.string() }),
    eventOf('PostToolUse', {
      tool_name: foreignNameSchema(512),
      tool_input: z.unknown(),
      tool_use_id: foreignNameSchema(480),
      tool_response: z.unknown(),
    }),
    eventOf('Stop', { last_assistant_message: z.string().nullish() }),
    eventOf('PreCompact', { trigger: z.string() }),
    eventOf('SessionEnd', { reason: z.string() }),
  ]),
)
/** The input of a hook of Codex (https://developers.openai.com/codex/hooks). */
export type CodexEvent = z.infer<typeof codexEventSchema>

export const codexHookOutputSchema = named(
  'CodexHookOutput',
  z.object({
    /** With `reason`, in place of the output of a tool. The call itself has been made. */
    decision: z.literal('block').optional(),
    /** A stub: Codex gives it to the model as the output of the call. */
    reason: z.string().optional(),
    hookSpecificOutput: z
      .object({
        hookEventName: z.literal('SessionStart'),
        /** At most 10,000 bytes: of more, Codex would show a preview. */
        additionalContext: z.string(),
      })
      .optional(),
  }),
)
/** The fields of an answer that Codex reads; empty if nothing is to change. */
export type CodexHookOutput = z.infer<typeof codexHookOutputSchema>
