import { jsonObjectOrTextSchema } from '@heddle/contracts'
import { z } from 'zod'
import { readAnthropicMessage } from './anthropic-message.js'
import type { FormEntry, FormMessage } from './reading.js'
import {
  callNameSchema,
  entrySchema,
  foreignParts,
  modelSchema,
  partSchema,
  type Shapes,
  shapeOf,
  textOrParts,
} from './shapes.js'
import { anthropicUsage } from './usage.js'

const texts: ReadonlySet<string> = new Set(['text'])

const thinking = z.looseObject({ thinking: z.string(), signature: z.string().nullish() })
const redacted = z.looseObject({ data: z.string().min(1, 'must not be empty') })
const call = z.looseObject({ id: callNameSchema, name: callNameSchema, input: jsonObjectOrTextSchema.nullish() })
const result = z.looseObject({
  tool_use_id: callNameSchema,
  content: textOrParts(partSchema(texts)).nullish(),
  is_error: z.boolean().nullish(),
})

const foreign = foreignParts('tool-call', 'tool-result', 'reasoning')
const only = (role: string) => z.custom(() => false, `is allowed only in the content of ${role}`)
const shapes: Shapes = {
  user: z.looseObject({
    content: textOrParts(
      partSchema(texts, {
        ...foreign,
        tool_result: result,
        tool_use: only('an assistant'),
        thinking: only('an assistant'),
        redacted_thinking: only('an assistant'),
      }),
    ).refine((content) => !Array.isArray(content) || content.length > 0, 'must have at least 1 entry'),
  }),
  assistant: z.looseObject({
    id: z.string().max(500).nullish(),
    model: modelSchema.nullish(),
    content: textOrParts(
      partSchema(texts, {
        ...foreign,
        tool_use: call,
        thinking,
        redacted_thinking: redacted,
        tool_result: only('a user'),
      }),
    ),
  }),
  system: z.looseObject({ content: textOrParts(partSchema(texts)) }),
}
const unknownRoleSchema = z.looseObject({
  role: z.enum(['user', 'assistant', 'system'], { error: 'must be one of user, assistant, system' }),
})

/** A message of a request, or an unmodified answer. */
export const anthropicEntrySchema = entrySchema((entry) => shapeOf(shapes, entry['role']) ?? unknownRoleSchema)

/** The results of a user's turn become one message each, followed by the rest of the turn. */
export function readAnthropicEntries(entries: readonly FormEntry[]): FormMessage[] {
  return entries.flatMap((entry, index) =>
    readAnthropicMessage(entry, new Map()).map(({ identity, input }) => {
      const { usage: _, ...said } = input
      return { entry: index, sourceId: identity, input: { ...said, ...anthropicUsage(entry.value['usage']) } }
    }),
  )
}
