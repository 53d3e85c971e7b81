import {
  formats,
  idSchema,
  limits,
  type MessageInput,
  nameSchema,
  newMessageSchema,
  type OnUsedId,
  onUsedIdSchema,
  PermanentError,
  parse,
  settingsSchema,
  timeBoundsMs,
} from '@heddle/contracts'
import { z } from 'zod'
import { entrySchemaOf, type FormName, formNames, readForm } from '../forms/index.js'
import { idsOfKey } from './idempotency.js'
import { newId } from './ids.js'

/** The parameters of an append, checked and copied, so that later changes by the caller have no effect. */
export interface AppendInput {
  readonly agent: string
  readonly thread: string
  readonly messages: readonly MessageInput[]
  /**
   * Ids chosen by the caller, or derived from a reply's own id or the caller's key; the others are new, so they cannot
   * be stored yet.
   */
  readonly chosenIds: ReadonlySet<string>
  readonly startedAtMs: number | undefined
  readonly continues: boolean
  readonly newAgentRollingWindow: number | null | undefined
  readonly onUsedId: OnUsedId | undefined
  /** For each message the index of its entry, if the entries are in a provider's format. */
  readonly entries?: readonly number[]
}

const formatSchema = z.enum(formats, { error: `must be one of ${formats.join(', ')}` }).optional()
const messageSchema = newMessageSchema(newId)

const appendSchema = z.strictObject({
  agent: nameSchema,
  thread: nameSchema,
  format: formatSchema,
  messages: z.array(messageSchema),
  contextId: idSchema.optional(),
  idempotencyKey: z.string().optional(),
  ack: z.enum(['queued', 'stored'], { error: 'must be queued or stored' }).optional(),
  onBusy: z.enum(['wait', 'fail'], { error: 'must be wait or fail' }).optional(),
  idsAreNew: z.boolean().optional(),
  deadlineMs: z.number().min(1).max(limits.waitMsMax).optional(),
  continues: z.boolean().optional(),
  startedAtMs: z.number().min(timeBoundsMs.first).max(timeBoundsMs.last).optional(),
  newAgentRollingWindow: settingsSchema.shape.rollingWindow.optional(),
  onUsedId: onUsedIdSchema.optional(),
  signal: z.instanceof(AbortSignal, { error: 'must be an AbortSignal' }).optional(),
  onProgress: z.custom((value) => typeof value === 'function', 'must be a function').optional(),
})

/** The same for messages in the form of a provider's package. */
const formSchemas = new Map(
  formNames.map((form) => [form, appendSchema.extend({ messages: z.array(entrySchemaOf(form)) })] as const),
)
const namedFormatSchema = z.object({ format: formatSchema })

/**
 * Checks the parameters of an append, whatever their real types. Ingest accepts the resulting job.
 *
 * @throws PermanentError `VALIDATION_ERROR` or `PAYLOAD_TOO_LARGE`, with a field such as `messages.3.content`, in terms
 * of the messages' format
 */
export function readAppend(given: unknown): AppendInput {
  const { format = 'neutral' } = parse(namedFormatSchema, given, 'append')
  return format === 'neutral' ? readNeutral(given) : readInForm(format, given)
}

function readNeutral(given: unknown): AppendInput {
  const { agent, thread, messages, contextId, idempotencyKey, ...rest } = parse(appendSchema, given, 'append')
  const { messages: before } = given as { messages: readonly unknown[] }
  const idOf = idempotencyKey === undefined ? undefined : idsOfKey(idempotencyKey, 'message', thread)
  const chosenIds = new Set<string>()
  for (const [index, message] of messages.entries()) {
    if (isWithoutId(before[index])) {
      if (idOf === undefined) continue
      message.id = idOf(index)
    }
    chosenIds.add(message.id)
  }
  const { startedAtMs, newAgentRollingWindow, onUsedId, continues = false } = rest
  const answering = contextId === undefined ? messages : messages.map((message) => withContext(message, contextId))
  return { agent, thread, messages: answering, chosenIds, startedAtMs, newAgentRollingWindow, onUsedId, continues }
}

function readInForm(form: FormName, given: unknown): AppendInput {
  const schema = formSchemas.get(form) as NonNullable<ReturnType<typeof formSchemas.get>>
  const { agent, thread, messages, contextId, idempotencyKey, ...rest } = parse(schema, given, 'append')
  const idOf = idempotencyKey === undefined ? () => undefined : idsOfKey(idempotencyKey, 'message', thread)
  const read = readForm(form, thread, messages)
  const chosenIds = new Set<string>()
  const checked = read.map(({ entry, message }, index) => {
    const id = message.id ?? idOf(index)
    if (id !== undefined) chosenIds.add(id)
    return withContext(check({ ...message, id }, `messages.${entry}`), contextId)
  })
  const { startedAtMs, newAgentRollingWindow, onUsedId, continues = false } = rest
  const entries = read.map(({ entry }) => entry)
  const said = { agent, thread, startedAtMs, newAgentRollingWindow, onUsedId, continues }
  return { ...said, messages: checked, chosenIds, entries }
}

/** The entry is valid in its format; the message may still be too large as a whole. */
function check(message: unknown, place: string): MessageInput {
  try {
    return parse(messageSchema, message, place)
  } catch (error) {
    if (!(error instanceof PermanentError)) throw error
    const { code, detail, ...details } = error.toJSON()
    throw new PermanentError(code, detail, { ...details, field: place, cause: error })
  }
}

/** A reply is linked to the context that it answered, unless it names one itself. */
function withContext(message: MessageInput, contextId: string | undefined): MessageInput {
  const isReply = message.role === 'assistant' || message.role === 'tool_use'
  return contextId === undefined || message.contextId !== undefined || !isReply ? message : { ...message, contextId }
}

function isWithoutId(message: unknown): message is object {
  return message !== null && typeof message === 'object' && (message as { id?: unknown }).id === undefined
}
