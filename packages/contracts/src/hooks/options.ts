import { z } from 'zod'
import { nameSchema } from '../primitives/names.js'

export const SESSION_CHARACTERS_MAX = 200
export const PATH_CHARACTERS_MAX = 4_096

/** Longer outputs are replaced by default, by stubs of at most so many tokens. */
export const OUTPUT_TOKENS_MAX_DEFAULT = 4_000
export const STUB_TOKENS_MAX_DEFAULT = 1_000

export const hookQuerySchema = z.strictObject({
  /** The agent of the session's thread. Default: the name of the program, such as `claude-code`. */
  agent: nameSchema.optional(),
  /** Outputs of tools with more tokens are replaced by a stub. Default 4,000. */
  outputTokensMax: z.coerce.number().int().min(200).max(1_000_000).optional(),
  /** Tokens of the lines that a stub keeps. Default 1,000. */
  stubTokensMax: z.coerce.number().int().min(40).max(100_000).optional(),
})
export type HookOptions = z.infer<typeof hookQuerySchema>
