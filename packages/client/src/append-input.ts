import {
  limits,
  type MessageInput,
  nameSchema,
  newMessageSchema,
  parse,
  settingsSchema,
  timeBoundsMs,
} from '@heddle/contracts'
import { z } from 'zod'
import { newId } from './ids.js'

/** What an append is about, checked and copied: what its caller does to the objects meanwhile changes nothing. */
export interface AppendInput {
  readonly agent: string
  readonly thread: string
  readonly messages: readonly MessageInput[]
  /** Ids that the caller chose; the others are new, and cannot be stored yet. */
  readonly chosenIds: ReadonlySet<string>
  readonly startedAtMs: number | undefined
  readonly newAgentRollingWindow: number | null | undefined
}

const appendSchema = z.strictObject({
  agent: nameSchema,
  thread: nameSchema,
  messages: z.array(newMessageSchema(newId)),
  ack: z.enum(['queued', 'stored'], { error: 'must be queued or stored' }).optional(),
  onBusy: z.enum(['wait', 'fail'], { error: 'must be wait or fail' }).optional(),
  idsAreNew: z.boolean().optional(),
  deadlineMs: z.number().min(1).max(limits.waitMsMax).optional(),
  startedAtMs: z.number().min(timeBoundsMs.first).max(timeBoundsMs.last).optional(),
  newAgentRollingWindow: settingsSchema.shape.rollingWindow.optional(),
  signal: z.instanceof(AbortSignal, { error: 'must be an AbortSignal' }).optional(),
  onProgress: z.custom((value) => typeof value === 'function', 'must be a function').optional(),
})

/**
 * Reads what a program gave, of whatever type it really is. The job that is made of it is one that ingest takes.
 *
 * @throws PermanentError `VALIDATION_ERROR` or `PAYLOAD_TOO_LARGE`, with a field such as `messages.3.content`
 */
export function readAppend(given: unknown): AppendInput {
  const { agent, thread, messages, startedAtMs, newAgentRollingWindow } = parse(appendSchema, given, 'append')
  const { messages: before } = given as { messages: readonly unknown[] }
  const chosenIds = new Set(messages.filter((_, index) => !isWithoutId(before[index])).map(({ id }) => id))
  return { agent, thread, messages, chosenIds, startedAtMs, newAgentRollingWindow }
}

function isWithoutId(message: unknown): message is object {
  return message !== null && typeof message === 'object' && (message as { id?: unknown }).id === undefined
}
