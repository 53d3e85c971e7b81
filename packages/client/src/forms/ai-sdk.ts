import { z } from 'zod'
import { readAiSdkMessage } from './ai-sdk-messages.js'
import { isJsonObject, type JsonObject, textField } from './json.js'
import { type FormEntry, type FormMessage, sourceIdOfPart } from './reading.js'
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
import { aiSdkUsage } from './usage.js'

const texts: ReadonlySet<string> = new Set(['text', 'reasoning'])
const OUTPUTS = ['text', 'json', 'error-text', 'error-json', 'content', 'execution-denied'] as const

const call = z.looseObject({ toolCallId: callNameSchema, toolName: callNameSchema })
const result = call.extend({
  output: z
    .looseObject({ type: z.enum(OUTPUTS, { error: `must be one of ${OUTPUTS.join(', ')}` }) })
    .refine(({ type, value }) => !type.endsWith('text') || typeof value === 'string', {
      path: ['value'],
      error: 'must be a text',
    })
    .refine(({ type, value }) => type !== 'content' || Array.isArray(value), {
      path: ['value'],
      error: 'must be a list of parts',
    }),
})
const foreign = foreignParts('tool_use', 'tool_result', 'thinking', 'redacted_thinking')
const toolParts: Shapes = { ...foreign, 'tool-call': call, 'tool-result': result }

const shapes: Shapes = {
  system: z.looseObject({ content: z.string() }),
  user: z.looseObject({ content: textOrParts(partSchema(texts, foreign)) }),
  assistant: z.looseObject({ content: textOrParts(partSchema(texts, toolParts)) }),
  tool: z.looseObject({
    content: z.array(partSchema(texts, toolParts), { error: 'must be a list of results' }).min(1),
  }),
}
const roles = Object.keys(shapes)
const unknownRoleSchema = z.looseObject({
  role: z.enum(roles, { error: `must be one of ${roles.join(', ')}, where this is no result of a generation` }),
})
const messageShape = (message: JsonObject) => shapeOf(shapes, message['role']) ?? unknownRoleSchema

const resultSchema = z.looseObject({
  response: z.looseObject({
    id: z.string().max(500).nullish(),
    modelId: modelSchema.nullish(),
    messages: z.array(entrySchema(messageShape)),
  }),
})

/** A `ModelMessage`, or the result of a generation, whose `response` has the messages of all its steps. */
export const aiSdkEntrySchema = z
  .unknown()
  .transform(chosenFields)
  .pipe(entrySchema((entry) => ('response' in entry ? resultSchema : messageShape(entry))))

/**
 * A result is a large object with getters, of which only these fields are needed. A `response` alone also counts as a
 * result, without usage.
 */
function chosenFields(entry: unknown): unknown {
  if (typeof entry !== 'object' || entry === null || 'role' in entry) return entry
  const { response, usage, providerMetadata } = resultOf(entry)
  if (typeof response !== 'object' || response === null || !('messages' in response)) return entry
  const { id, modelId, messages }: { id?: unknown; modelId?: unknown; messages: unknown } = response
  return { response: { id, modelId, messages }, usage, providerMetadata }
}

function resultOf(entry: object): { response?: unknown; usage?: unknown; providerMetadata?: unknown } {
  return 'messages' in entry ? { response: entry } : entry
}

export function readAiSdk(entries: readonly FormEntry[]): FormMessage[] {
  return entries.flatMap(({ value }, entry) => {
    const { response, usage, providerMetadata } = value
    if (!isJsonObject(response)) return readAiSdkMessage(value).map((input) => ({ entry, input }))
    const given = Array.isArray(response['messages']) ? response['messages'].filter(isJsonObject) : []
    const read = given.flatMap(readAiSdkMessage)
    const last = read.findLastIndex(({ role }) => role === 'assistant')
    const model = textField(response, 'modelId')
    return read.map((input, index) => ({
      entry,
      sourceId: sourceIdOfPart(textField(response, 'id'), index, read.length),
      input: {
        ...input,
        ...(input.role === 'assistant' && model !== undefined && { model }),
        // The usage is that of the last step.
        ...(index === last && aiSdkUsage(usage, providerMetadata)),
      },
    }))
  })
}
