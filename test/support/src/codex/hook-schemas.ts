import { z } from 'zod'

/**
 * The forms of what a plugin of Codex contains, and of what its hooks are given and answer: the schemas in the program of
 * `@openai/codex` 0.171.0 (also in `codex-rs/hooks/schema/generated` of its repository), and
 * https://developers.openai.com/codex/hooks. Codex refuses answers with other fields.
 */

const commandHookSchema = z.strictObject({
  type: z.literal('command'),
  command: z.string().min(1),
  commandWindows: z.string().min(1).optional(),
  timeout: z.int().positive().optional(),
  statusMessage: z.string().optional(),
})
export type HookCommand = z.infer<typeof commandHookSchema>

const groupsSchema = z.array(
  z.strictObject({ matcher: z.string().optional(), hooks: z.array(commandHookSchema).min(1) }),
)

export const hooksFileSchema = z.strictObject({
  description: z.string().optional(),
  hooks: z.strictObject({
    SessionStart: groupsSchema.optional(),
    UserPromptSubmit: groupsSchema.optional(),
    PostToolUse: groupsSchema.optional(),
    Stop: groupsSchema.optional(),
    PreCompact: groupsSchema.optional(),
    SessionEnd: groupsSchema.optional(),
  }),
})

export const pluginFileSchema = z.strictObject({
  name: z.string().regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/),
  version: z.string().regex(/^\d+\.\d+\.\d+/),
  description: z.string(),
  author: z.strictObject({ name: z.string() }),
  license: z.string(),
  keywords: z.array(z.string()),
  mcpServers: z.string().startsWith('./'),
  hooks: z.string().startsWith('./'),
})

export const marketplaceFileSchema = z.strictObject({
  name: z.string(),
  interface: z.strictObject({ displayName: z.string() }),
  plugins: z.array(
    z.strictObject({
      name: z.string(),
      source: z.strictObject({ source: z.literal('local'), path: z.string().startsWith('./') }),
      policy: z.strictObject({ installation: z.literal('AVAILABLE'), authentication: z.literal('ON_INSTALL') }),
      category: z.string(),
    }),
  ),
})

const common = { session_id: z.string(), transcript_path: z.string().nullable(), cwd: z.string() }
const ofModel = { ...common, model: z.string() }
const permission_mode = z.enum(['default', 'acceptEdits', 'plan', 'dontAsk', 'bypassPermissions'])
const ofTurn = { ...ofModel, turn_id: z.string() }
const subagent = { agent_id: z.string().optional(), agent_type: z.string().optional() }
const named = <Name extends string>(name: Name) => ({ hook_event_name: z.literal(name) })

/** The inputs of the hooks. */
export const hookInputSchema = z.discriminatedUnion('hook_event_name', [
  z.strictObject({
    ...named('SessionStart'),
    ...ofModel,
    permission_mode,
    source: z.enum(['startup', 'resume', 'clear', 'compact', 'fork']),
  }),
  z.strictObject({ ...named('UserPromptSubmit'), ...ofTurn, ...subagent, permission_mode, prompt: z.string() }),
  z.strictObject({
    ...named('PostToolUse'),
    ...ofTurn,
    ...subagent,
    permission_mode,
    tool_name: z.string(),
    tool_input: z.unknown(),
    tool_response: z.unknown(),
    tool_use_id: z.string(),
  }),
  z.strictObject({
    ...named('Stop'),
    ...ofTurn,
    permission_mode,
    stop_hook_active: z.boolean(),
    last_assistant_message: z.string().nullable(),
  }),
  z.strictObject({ ...named('PreCompact'), ...ofTurn, ...subagent, trigger: z.enum(['manual', 'auto']) }),
  z.strictObject({ ...named('SessionEnd'), ...common, reason: z.literal('other') }),
])
export type CodexHookInput = z.infer<typeof hookInputSchema>

const universal = { systemMessage: z.string().optional() }

/** The answers of this plugin's hooks by event. */
export const hookOutputSchemas = {
  SessionStart: z.strictObject({
    ...universal,
    hookSpecificOutput: z
      .strictObject({ hookEventName: z.literal('SessionStart'), additionalContext: z.string() })
      .optional(),
  }),
  PostToolUse: z.union([
    z.strictObject({ decision: z.literal('block'), reason: z.string().trim().min(1) }),
    z.strictObject(universal),
  ]),
  UserPromptSubmit: z.strictObject(universal),
  Stop: z.strictObject(universal),
  PreCompact: z.strictObject(universal),
  SessionEnd: z.strictObject({}),
} as const
