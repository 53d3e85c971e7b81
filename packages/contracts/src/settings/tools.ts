import { z } from 'zod'

/** What pruning knows a tool call as (docs/pruning.md#tools-of-your-own). */
export const toolKinds = ['file_view', 'grep', 'bash', 'edit', 'other'] as const
export type ToolKind = (typeof toolKinds)[number]

/** Rows that one layer of settings may add. */
export const toolRulesMax = 200

const word = z.string().min(1, 'must not be empty').max(200, 'must have at most 200 characters')
const words = z.array(word).min(1, 'must name at least one').max(50, 'must name at most 50')

/**
 * What is known of the tools of one purpose. A table of these is all that Heddle knows of tools: users add rows for
 * theirs. Names are compared by their letters and digits alone, so `read_file` also stands for `ReadFile`.
 */
export const toolRuleSchema = z.strictObject({
  names: words,
  kind: z.enum(toolKinds, { error: `must be one of ${toolKinds.join(', ')}` }),
  /** For a tool with several commands: the row holds where this argument has one of these values. */
  when: z.strictObject({ argument: word, values: words }).optional(),
  /** Arguments that may name the file, the likeliest first. */
  path: words.optional(),
  /** Arguments that say which lines are viewed: the first, the last, or how many. Default: the usual names of these. */
  range: z.strictObject({ from: words.optional(), to: words.optional(), count: words.optional() }).optional(),
  pattern: words.optional(),
  searchPath: words.optional(),
  command: words.optional(),
  /** Arguments that may name the folder in which the call works. */
  directory: words.optional(),
  /** Arguments that may hold a patch that names its files. */
  patch: words.optional(),
  /**
   * The tool works on the file that it has open: a call with one of these arguments (true: any call) need not name a
   * file, since its result may.
   */
  openFile: z.union([words, z.literal(true)]).optional(),
  /** How its results are read, besides what every tool may write. Plain texts, compared by their letters. */
  result: z
    .strictObject({
      /** Texts after which the exit status stands as a number. */
      exit: words.optional(),
      /** Texts after which the number of matches stands. */
      matches: words.optional(),
      /** Texts with which the result of a failed call begins. */
      failed: words.optional(),
    })
    .optional(),
})
export type ToolRule = z.infer<typeof toolRuleSchema>
