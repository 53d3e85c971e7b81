import { z } from 'zod'
import { type JsonObject, jsonObjectOrTextSchema, jsonObjectSchema } from '../primitives/json.js'
import { limits } from '../primitives/limits.js'
import { foreignNameSchema, idSchema, timeSchema } from '../primitives/names.js'
import { iterationFieldsSchema } from '../threads/iterations.js'
import { checkParts, messagePartSchema } from './parts.js'

/**
 * Roles of messages (docs/design.md#words): `error` and `approval` are stored and shown in a thread's history but never
 * sent to a model.
 */
export const roles = ['user', 'assistant', 'tool_use', 'tool_result', 'system', 'error', 'approval'] as const
export type Role = (typeof roles)[number]

/**
 * A tool call. `arguments` are as the provider sent them: an object (Anthropic) or a text that should be JSON (OpenAI);
 * a text is stored unchanged, since models also write broken JSON.
 */
export const toolCallSchema = z.strictObject({
  id: z.string().min(1).max(512),
  name: z.string().min(1).max(512),
  arguments: jsonObjectOrTextSchema,
})
export type ToolCall = z.infer<typeof toolCallSchema>

/** A block of a model's reasoning with the provider's signature; sent back whole or not at all. */
export const thinkingBlockSchema = z.strictObject({
  text: z.string().max(limits.messageCharactersMax),
  signature: z.string().optional(),
  /** Encrypted reasoning (Anthropic's `redacted_thinking`); `text` is then empty. */
  redacted: z.string().optional(),
})
export type ThinkingBlock = z.infer<typeof thinkingBlockSchema>

/** The id of a message at its source, such as that of a chat. */
export const sourceIdSchema = foreignNameSchema(512)

const rawMessageSchema = z.strictObject({
  /** A UUID chosen by the client (version 7 from the SDK): the idempotency key of the message in its thread. */
  id: idSchema,
  /** The message's id at its source, such as a chat's message id: for routing replies. */
  sourceId: sourceIdSchema.optional(),
  role: z.enum(roles, { error: `must be one of ${roles.join(', ')}` }),
  content: z.string().max(limits.messageCharactersMax, `must have at most ${limits.messageCharactersMax} characters`),
  /** Images, documents and sounds, in the order of their positions in the content. */
  parts: z
    .array(messagePartSchema)
    .min(1, 'must hold at least one part, or be left out')
    .max(limits.partsPerMessageMax, `must hold at most ${limits.partsPerMessageMax} parts`)
    .optional(),
  thinking: z.array(thinkingBlockSchema).max(256).optional(),
  toolCalls: z.array(toolCallSchema).min(1).max(limits.toolCallsMax).optional(),
  toolCallId: foreignNameSchema(512).optional(),
  toolName: foreignNameSchema(512).optional(),
  isError: z.boolean().optional(),
  sentAt: timeSchema.optional(),
  model: foreignNameSchema(200).optional(),
  /** Token usage in the provider's reply: unchanged, or in Heddle's names for an append in the provider's format. */
  usage: jsonObjectSchema.optional(),
  /** The context that this reply answered. */
  contextId: idSchema.optional(),
  /** A pinned message is never condensed, removed or summarized. */
  pinned: z.boolean().optional(),
  /** Why the message is stored but never part of a context, such as an agent's own compaction summary. */
  keptAside: z.enum(['compact-summary']).optional(),
  metadata: jsonObjectSchema.optional(),
})

/** The size of a message: the characters of all fields that may be long. */
export function messageCharacters(
  message: Pick<z.infer<typeof rawMessageSchema>, 'content' | 'toolCalls' | 'thinking' | 'usage' | 'metadata'>,
): number {
  let characters = message.content.length + jsonCharacters(message.usage) + jsonCharacters(message.metadata)
  for (const { arguments: given } of message.toolCalls ?? []) {
    characters += typeof given === 'string' ? given.length : jsonCharacters(given)
  }
  for (const { text, signature = '', redacted = '' } of message.thinking ?? []) {
    characters += text.length + signature.length + redacted.length
  }
  return characters
}

function jsonCharacters(value: JsonObject | undefined): number {
  return value === undefined ? 0 : JSON.stringify(value).length
}

/** Rules about a message as a whole, independent of its id. */
function checkMessage(message: Omit<z.infer<typeof rawMessageSchema>, 'id'>, context: z.RefinementCtx): void {
  if (messageCharacters(message) > limits.messageCharactersMax) {
    context.addIssue({
      code: 'too_big',
      origin: 'string',
      maximum: limits.messageCharactersMax,
      input: message,
      message: `must have at most ${limits.messageCharactersMax} characters, calls, reasoning and metadata included`,
    })
  }
  checkParts(message, context)
  const fault = (path: string, rule: string) => context.addIssue({ code: 'custom', path: [path], message: rule })
  if (message.role === 'tool_result' && message.toolCallId === undefined)
    fault('toolCallId', 'is needed on a tool_result')
  if (message.role === 'tool_use' && message.toolCalls === undefined) fault('toolCalls', 'is needed on a tool_use')
  if (message.toolCalls !== undefined && message.role !== 'assistant' && message.role !== 'tool_use') {
    fault('toolCalls', 'is allowed only on an assistant or tool_use message')
  }
  if (message.thinking !== undefined && message.role !== 'assistant' && message.role !== 'tool_use') {
    fault('thinking', 'is allowed only on an assistant or tool_use message')
  }
}

/** A message as a producer sends it. */
export const messageInputSchema = rawMessageSchema.superRefine(checkMessage)
export type MessageInput = z.infer<typeof messageInputSchema>

/** A message that gets an id if it has no id. */
export const newMessageSchema = (newId: () => string) =>
  rawMessageSchema.extend({ id: idSchema.default(newId) }).superRefine(checkMessage)

/** A message in an HTTP request, possibly without an id. */
export const messageBodySchema = rawMessageSchema.extend({ id: idSchema.optional() }).superRefine(checkMessage)

/** Why a stored message is in no context: as its producer said, or since it is the output of an iteration. */
export const keptAsideReasons = ['compact-summary', 'iteration'] as const

/** If a thread has another message with the id of one: the append is refused, or the stored message is kept. */
export const onUsedIdSchema = z.enum(['refuse', 'keep'], { error: 'must be refuse or keep' })
export type OnUsedId = z.infer<typeof onUsedIdSchema>

/** A message with its position in its append. */
export const placedMessageSchema = z.strictObject({
  message: messageInputSchema,
  /** Of the output of an iteration, which is stored as a message kept aside (docs/iterations.md). */
  iteration: iterationFieldsSchema.optional(),
  /**
   * Orders messages of the same time. It counts from 0 over all jobs of an append or file, and counts on from the producer's
   * previous append where this one begins no later than that one ended.
   */
  ordinal: z.int().min(0).max(2_000_000_000),
  /** The client's proposal for its time: `sentAt`, made non-decreasing over the append. */
  orderedAt: timeSchema,
})
export type PlacedMessage = z.infer<typeof placedMessageSchema>

/** The size of a message in a job: its characters, and those of the prompt of an iteration. */
export function placedCharacters({ message, iteration }: PlacedMessage): number {
  return messageCharacters(message) + (iteration?.prompt.length ?? 0)
}
