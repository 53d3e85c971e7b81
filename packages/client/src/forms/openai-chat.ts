import { type JsonObject, jsonObjectOrTextSchema, limits } from '@heddle/contracts'
import { z } from 'zod'
import { isJsonObject, textField } from './json.js'
import { readOpenAiMessage } from './openai-message.js'
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
import { openAiUsage } from './usage.js'

const content = textOrParts(
  partSchema(new Set(['text', 'input_text', 'output_text']), {
    refusal: z.looseObject({ type: z.literal('refusal'), refusal: z.string() }),
    ...foreignParts(
      'tool_use',
      'tool_result',
      'thinking',
      'redacted_thinking',
      'tool-call',
      'tool-result',
      'reasoning',
    ),
  }),
)
const functionSchema = z.looseObject({ name: callNameSchema, arguments: jsonObjectOrTextSchema.nullish() })
const customSchema = z.looseObject({ name: callNameSchema, input: z.string().nullish() })
const callSchema = z
  .looseObject({ id: callNameSchema, function: functionSchema.nullish(), custom: customSchema.nullish() })
  .refine((call) => call.function != null || call.custom != null, { path: ['function'], error: 'is needed' })

const saidSchema = z.looseObject({ content })
const assistantSchema = z.looseObject({
  role: z.literal('assistant'),
  content: content.nullish(),
  tool_calls: z.array(callSchema).max(limits.toolCallsMax).nullish(),
  function_call: functionSchema.nullish(),
  refusal: z.string().nullish(),
  reasoning_content: z.string().nullish(),
})
const shapes: Shapes = {
  system: saidSchema,
  developer: saidSchema,
  user: saidSchema,
  assistant: assistantSchema,
  tool: saidSchema.extend({ tool_call_id: callNameSchema }),
  function: z.looseObject({ name: callNameSchema, content: content.nullable() }),
}
const roles = Object.keys(shapes)
const unknownRoleSchema = z.looseObject({ role: z.enum(roles, { error: `must be one of ${roles.join(', ')}` }) })

/** Of several choices a conversation continues with one. */
const completionSchema = z.looseObject({
  id: z.string().max(512).nullish(),
  model: modelSchema.nullish(),
  choices: z
    .array(z.looseObject({ message: assistantSchema }))
    .refine((choices) => choices.length === 1, 'must have one choice: append the message of the one to continue with'),
})

/** A message of a request, a message of an answer, or the whole answer. */
export const openAiChatEntrySchema = entrySchema(
  (entry) => ('choices' in entry ? completionSchema : shapeOf(shapes, entry['role'])) ?? unknownRoleSchema,
)

export function readOpenAiChat(entries: readonly FormEntry[]): FormMessage[] {
  const legacyCallIds = new Map<string, string>()
  return entries.map((entry, index) => {
    const value = messageOf(entry.value)
    const { input } = readOpenAiMessage({ place: entry.place, value }, index, legacyCallIds)
    const { usage: _, ...said } = input
    return { entry: index, sourceId: textField(value, 'id'), input: { ...said, ...openAiUsage(value['usage']) } }
  })
}

/** The message of a whole answer, with the answer's id, model and usage. */
function messageOf(entry: JsonObject): JsonObject {
  const { choices, id, model, usage } = entry
  if (!Array.isArray(choices)) return entry
  const [choice] = choices
  const message = isJsonObject(choice) && isJsonObject(choice['message']) ? choice['message'] : {}
  return { ...message, id: id ?? null, model: model ?? null, usage: usage ?? null }
}
