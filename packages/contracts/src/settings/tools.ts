import { z } from 'zod'

/** How pruning classifies a tool call (docs/pruning.md#tools-of-your-own). */
export const toolKinds = ['file_view', 'grep', 'bash', 'edit', 'other'] as const
export type ToolKind = (typeof toolKinds)[number]

/** Rows that one layer of settings may add. */
export const toolRulesMax = 200

const word = z.string().min(1, 'must not be empty').max(200, 'must have at most 200 characters')
const words = z.array(word).min(1, 'must name at least one').max(50, 'must name at most 50')

/**
 * Describes the tools of one purpose. Heddle's knowledge of tools is only a table of such rows, to which users add rows
 * for theirs. Names are compared only by their letters and digits, so `read_file` also matches `ReadFile`.
 */
export const toolRuleSchema = z.strictObject({
  names: words,
  kind: z.enum(toolKinds, { error: `must be one of ${toolKinds.join(', ')}` }),
  /** For a tool with several commands: the row applies if this argument has one of these values. */
  when: z.strictObject({ argument: word, values: words }).optional(),
  /** Arguments that may name the file, the most likely first. */
  path: words.optional(),
  /** Arguments with the viewed lines: the first, the last, or how many. Default: their usual names. */
  range: z.strictObject({ from: words.optional(), to: words.optional(), count: words.optional() }).optional(),
  pattern: words.optional(),
  searchPath: words.optional(),
  command: words.optional(),
  /** Arguments that may name the working directory of the call. */
  directory: words.optional(),
  /** Arguments that may contain a patch that names its files. */
  patch: words.optional(),
  /** Arguments with the whole content of the file: such a call replaces all that earlier ones wrote. */
  content: words.optional(),
  /**
   * The tool works on the file that it has open: a call with one of these arguments (true: any call) need not name a
   * file, since its result may.
   */
  openFile: z.union([words, z.literal(true)]).optional(),
  /** How its results are read, besides the phrases common to all tools. Plain texts, compared exactly. */
  result: z
    .strictObject({
      /** Texts before a numeric exit status. */
      exit: words.optional(),
      /** Texts before the number of matches. */
      matches: words.optional(),
      /** Texts with which the result of a failed call begins. */
      failed: words.optional(),
    })
    .optional(),
})
export type ToolRule = z.infer<typeof toolRuleSchema>
