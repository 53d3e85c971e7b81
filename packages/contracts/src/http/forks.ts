import { z } from 'zod'
import { idSchema, nameSchema } from '../primitives/names.js'
import type { OutputOf } from '../primitives/output-of.js'
import { threadDetailsSchema } from '../threads/threads.js'
import { named } from './common.js'

/** A moment of a thread: the id or the reference of a message, or its number in the thread. */
const momentSchema = z.union([z.int().min(1), z.string().min(1).max(2_000)])

export const forkBodySchema = named(
  'ForkBody',
  z.strictObject({
    /** The last message that both threads share: its id, its reference or its number. Default: the thread's latest. */
    at: momentSchema.optional(),
    /** The name of the new thread, which no thread had before. Default: the thread's name with `fork` and some characters. */
    name: nameSchema.optional(),
    /** Default: the title of the thread. */
    title: threadDetailsSchema.shape.title.unwrap().unwrap().optional(),
  }),
)
export type ForkBody = z.input<typeof forkBodySchema>

export const forkedThreadSchema = named(
  'ForkedThread',
  z.object({
    threadId: idSchema,
    /** The name of the new thread. */
    thread: z.string(),
    agent: z.string(),
    forkedFrom: z.object({ thread: z.string(), seq: z.int() }),
    /** False if an earlier call with the same name and moment made it. */
    isNew: z.boolean(),
    /** Compactions of the thread that hold for the new one: at most one of each of its lanes. */
    compactions: z.int(),
  }),
)
export type ForkedThread = OutputOf<typeof forkedThreadSchema>

export const compareParamsSchema = z.strictObject({ thread: nameSchema, other: nameSchema })

export const threadComparisonSchema = named(
  'ThreadComparison',
  z.object({
    thread: z.string(),
    other: z.string(),
    /** The messages that both share, up to the last of them; null if they share none. Equal copies do not count. */
    common: z.object({ messages: z.int(), seq: z.int(), reference: z.string() }).nullable(),
    /** Messages that only the one or the other has. */
    after: z.object({ thread: z.int(), other: z.int() }),
  }),
)
export type ThreadComparison = OutputOf<typeof threadComparisonSchema>
