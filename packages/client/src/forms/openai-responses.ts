import { jsonObjectOrTextSchema } from '@heddle/contracts'
import { z } from 'zod'
import { isJsonObject, type JsonObject } from './json.js'
import { readItems } from './openai-responses-items.js'
import { type FormEntry, type FormMessage, sourceIdOfPart } from './reading.js'
import { callNameSchema, entrySchema, modelSchema, partSchema, type Shapes, shapeOf, textOrParts } from './shapes.js'
import { openAiUsage } from './usage.js'

const content = textOrParts(
  partSchema(new Set(['input_text', 'output_text', 'text']), {
    refusal: z.looseObject({ type: z.literal('refusal'), refusal: z.string() }),
  }),
)
const roles = ['user', 'assistant', 'system', 'developer'] as const
const messageSchema = z.looseObject({ role: z.enum(roles, { error: `must be one of ${roles.join(', ')}` }), content })
const outputSchema = z.looseObject({ call_id: callNameSchema, output: content })
const textsSchema = z.array(z.looseObject({ text: z.string() }))

const shapes: Shapes = {
  message: messageSchema,
  function_call: z.looseObject({
    call_id: callNameSchema,
    name: callNameSchema,
    arguments: jsonObjectOrTextSchema.nullish(),
  }),
  custom_tool_call: z.looseObject({ call_id: callNameSchema, name: callNameSchema, input: z.string() }),
  function_call_output: outputSchema,
  custom_tool_call_output: outputSchema,
  reasoning: z.looseObject({ summary: textsSchema.nullish(), content: textsSchema.nullish() }),
}
const referenceSchema = z.custom(
  () => false,
  'must be the item itself: a reference points to one on the server of OpenAI',
)
const otherSchema = z.looseObject({ type: z.string().min(1, 'must not be empty') })

/** The item type of a model's text determines its role; a message may have no type. */
function itemShape(item: JsonObject): z.ZodType {
  const { type } = item
  if (type === 'item_reference') return referenceSchema
  if (type !== undefined && type !== null) return shapeOf(shapes, type) ?? otherSchema
  return 'id' in item && !('role' in item) ? referenceSchema : messageSchema
}

const responseSchema = z.looseObject({
  id: z.string().max(500).nullish(),
  model: modelSchema.nullish(),
  output: z
    .array(entrySchema(itemShape), { error: 'must be a list of items' })
    .min(1, 'must have at least 1 item: a response that failed or is in progress is empty'),
})

const isResponse = (entry: JsonObject) => 'output' in entry && (entry['object'] === 'response' || !('type' in entry))

/** An item of an input, an item of an output, or the whole response. */
export const openAiResponsesEntrySchema = entrySchema((entry) =>
  isResponse(entry) ? responseSchema : itemShape(entry),
)

/** Consecutive items are read together, since a reply may be several of them. */
export function readOpenAiResponses(entries: readonly FormEntry[]): FormMessage[] {
  const messages: FormMessage[] = []
  let row: { entry: number; item: JsonObject }[] = []
  const finishRow = () => {
    messages.push(...readItems(row))
    row = []
  }
  for (const [index, { value }] of entries.entries()) {
    if (!isResponse(value)) {
      row.push({ entry: index, item: value })
      continue
    }
    finishRow()
    messages.push(...readResponse(value, index))
  }
  finishRow()
  return messages
}

function readResponse({ id, model, usage, output }: JsonObject, entry: number): FormMessage[] {
  const items = Array.isArray(output) ? output.filter(isJsonObject) : []
  const read = readItems(
    items.map((item) => ({ entry, item })),
    { isOneReply: true },
  )
  const last = read.findLastIndex(({ input }) => input.role === 'assistant')
  return read.map(({ input }, index) => ({
    entry,
    sourceId: sourceIdOfPart(typeof id === 'string' && id !== '' ? id : undefined, index, read.length),
    input: {
      ...input,
      ...(input.role === 'assistant' && typeof model === 'string' && { model }),
      // The usage is the size of the thread up to its last reply.
      ...(index === last && openAiUsage(usage)),
    },
  }))
}
