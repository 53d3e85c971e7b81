import { z } from 'zod'

/**
 * The documented forms of what a plugin of Claude Code contains and its hooks answer. Texts of fields:
 * https://code.claude.com/docs/en/hooks, https://code.claude.com/docs/en/plugins-reference and
 * https://code.claude.com/docs/en/plugin-marketplaces. Types: `sdk.d.ts` and `sdk-tools.d.ts` of
 * `@anthropic-ai/claude-agent-sdk` 0.3.332. Anything else in them is a fault of the plugin.
 */

const handlerFields = {
  timeout: z.number().positive().optional(),
  statusMessage: z.string().optional(),
  if: z.string().optional(),
}

const commandHookSchema = z.strictObject({
  type: z.literal('command'),
  command: z.string().min(1),
  args: z.array(z.string()).optional(),
  async: z.boolean().optional(),
  ...handlerFields,
})

const httpHookSchema = z.strictObject({
  type: z.literal('http'),
  url: z.url(),
  headers: z.record(z.string(), z.string()).optional(),
  allowedEnvVars: z.array(z.string()).optional(),
  ...handlerFields,
})

const groupsOf = (hook: z.ZodType<HookHandler>) =>
  z.array(z.strictObject({ matcher: z.string().optional(), hooks: z.array(hook).min(1) })).min(1)

export type HookHandler = z.infer<typeof commandHookSchema> | z.infer<typeof httpHookSchema>
const anyHook = z.discriminatedUnion('type', [commandHookSchema, httpHookSchema])

/** `SessionStart` accepts no HTTP hooks. */
export const hooksFileSchema = z.strictObject({
  description: z.string().optional(),
  hooks: z.strictObject({
    SessionStart: groupsOf(commandHookSchema).optional(),
    UserPromptSubmit: groupsOf(anyHook).optional(),
    PostToolUse: groupsOf(anyHook).optional(),
    PostToolUseFailure: groupsOf(anyHook).optional(),
    Stop: groupsOf(anyHook).optional(),
    PreCompact: groupsOf(anyHook).optional(),
    SessionEnd: groupsOf(anyHook).optional(),
  }),
})

export const pluginFileSchema = z.strictObject({
  name: z.string().regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/),
  version: z.string().regex(/^\d+\.\d+\.\d+/),
  description: z.string(),
  author: z.strictObject({ name: z.string(), email: z.string().optional(), url: z.url().optional() }),
  license: z.string(),
  keywords: z.array(z.string()),
})

export const marketplaceFileSchema = z.strictObject({
  name: z.string().regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/),
  owner: z.strictObject({ name: z.string() }),
  plugins: z.array(
    z.strictObject({ name: z.string(), source: z.string().startsWith('./'), description: z.string().optional() }),
  ),
})

const universalFields = {
  continue: z.boolean().optional(),
  suppressOutput: z.boolean().optional(),
  stopReason: z.string().optional(),
  systemMessage: z.string().max(10_000).optional(),
}

/** The answers of this plugin's hooks by event; those without fields of their own answer with the universal ones. */
export const hookOutputSchemas = {
  PostToolUse: z.strictObject({
    ...universalFields,
    hookSpecificOutput: z
      .strictObject({ hookEventName: z.literal('PostToolUse'), updatedToolOutput: z.unknown() })
      .optional(),
  }),
  SessionStart: z.strictObject({
    ...universalFields,
    hookSpecificOutput: z
      .strictObject({ hookEventName: z.literal('SessionStart'), additionalContext: z.string().max(10_000) })
      .optional(),
  }),
  PostToolUseFailure: z.strictObject(universalFields),
  UserPromptSubmit: z.strictObject(universalFields),
  Stop: z.strictObject(universalFields),
  PreCompact: z.strictObject(universalFields),
  SessionEnd: z.strictObject(universalFields),
} as const

const patchSchema = z.array(z.unknown())
const mcpOutputSchema = z.union([z.string(), z.array(z.looseObject({ type: z.string() })), z.looseObject({})])

/** The outputs of tools: Claude Code ignores a replacement of another shape. */
const toolOutputSchemas: Readonly<Record<string, z.ZodType>> = {
  Bash: z.strictObject({
    stdout: z.string(),
    stderr: z.string(),
    interrupted: z.boolean(),
    isImage: z.boolean().optional(),
    persistedOutputPath: z.string().optional(),
    persistedOutputSize: z.number().optional(),
  }),
  Read: z.strictObject({
    type: z.literal('text'),
    file: z.strictObject({
      filePath: z.string(),
      content: z.string(),
      numLines: z.int(),
      startLine: z.int(),
      totalLines: z.int(),
    }),
  }),
  Grep: z.strictObject({
    mode: z.enum(['content', 'files_with_matches', 'count']).optional(),
    numFiles: z.int(),
    filenames: z.array(z.string()),
    content: z.string().optional(),
    numLines: z.int().optional(),
  }),
  Glob: z.strictObject({
    durationMs: z.number(),
    numFiles: z.int(),
    filenames: z.array(z.string()),
    truncated: z.boolean(),
  }),
  Edit: z.strictObject({
    filePath: z.string(),
    oldString: z.string(),
    newString: z.string(),
    originalFile: z.string().nullable(),
    structuredPatch: patchSchema,
    userModified: z.boolean(),
    replaceAll: z.boolean(),
  }),
  Write: z.strictObject({
    type: z.enum(['create', 'update']),
    filePath: z.string(),
    content: z.string(),
    structuredPatch: patchSchema,
    originalFile: z.string().nullable(),
  }),
  WebFetch: z.strictObject({
    bytes: z.int(),
    code: z.int(),
    codeText: z.string(),
    result: z.string(),
    durationMs: z.number(),
    url: z.string(),
  }),
}

/** The documented form of a tool's output; anything for a tool that the plugin does not replace outputs of. */
export function toolOutputSchema(toolName: string): z.ZodType {
  return toolName.startsWith('mcp__') ? mcpOutputSchema : (toolOutputSchemas[toolName] ?? z.unknown())
}
