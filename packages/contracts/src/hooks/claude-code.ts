import { z } from 'zod'
import { named } from '../http/common.js'
import { foreignNameSchema, nameSchema, timeSchema } from '../primitives/names.js'
import { PATH_CHARACTERS_MAX, SESSION_CHARACTERS_MAX } from './options.js'

/** Fields of every event. Others, such as those of later versions of Claude Code, are accepted and not read. */
const commonFields = {
  /** The name of the thread. */
  session_id: nameSchema.max(SESSION_CHARACTERS_MAX),
  transcript_path: z.string().max(PATH_CHARACTERS_MAX).optional(),
  cwd: z.string().max(PATH_CHARACTERS_MAX).optional(),
  /** The prompt that is being processed; of Claude Code 2.1.196 and later. */
  prompt_id: foreignNameSchema(SESSION_CHARACTERS_MAX).optional(),
  /** Within a subagent, which has a thread of its own. */
  agent_id: nameSchema.max(SESSION_CHARACTERS_MAX).optional(),
  /** When it happened, of an event that is sent afterwards. Not a field of Claude Code. */
  timestamp: timeSchema.optional(),
}

const callFields = {
  ...commonFields,
  tool_name: foreignNameSchema(512),
  tool_input: z.unknown(),
  tool_use_id: foreignNameSchema(480),
}

const eventOf = <Name extends string, Fields extends z.ZodRawShape>(name: Name, fields: Fields) =>
  z.looseObject({ hook_event_name: z.literal(name), ...fields })

export const claudeCodeEventSchema = named(
  'ClaudeCodeEvent',
  z.discriminatedUnion('hook_event_name', [
    eventOf('SessionStart', { ...commonFields, source: z.string() }),
    eventOf('UserPromptSubmit', { ...commonFields, prompt: z.string(), source: z.string().optional() }),
    eventOf('PostToolUse', { ...callFields, tool_response: z.unknown() }),
    eventOf('PostToolUseFailure', { ...callFields, error: z.string() }),
    eventOf('Stop', { ...commonFields, last_assistant_message: z.string().optional() }),
    eventOf('PreCompact', { ...commonFields, trigger: z.string() }),
    eventOf('SessionEnd', { ...commonFields, reason: z.string() }),
  ]),
)
/** The input of a hook of Claude Code (https://code.claude.com/docs/en/hooks). */
export type ClaudeCodeEvent = z.infer<typeof claudeCodeEventSchema>

export const claudeCodeHookOutputSchema = named(
  'ClaudeCodeHookOutput',
  z.object({
    hookSpecificOutput: z
      .union([
        z.object({
          hookEventName: z.literal('PostToolUse'),
          /** The output in the shape of its tool, with a stub as its text. */
          updatedToolOutput: z.unknown(),
        }),
        z.object({
          hookEventName: z.literal('SessionStart'),
          /** At most 10,000 characters. */
          additionalContext: z.string(),
        }),
      ])
      .optional(),
  }),
)
/** The fields of an answer that Claude Code reads; empty if nothing is to change. */
export type ClaudeCodeHookOutput = z.infer<typeof claudeCodeHookOutputSchema>
