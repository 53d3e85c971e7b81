import { z } from 'zod'
import { coverSchema, epochSchema, expansionSchema, stubSchema } from './epoch.js'

/** A place in a conversation: so many entries, and the chain of their hashes. */
const markSchema = z.strictObject({ at: z.int().min(0), chain: z.string() })

/** Places by which another request is compared with the last one, without the hashes of all of its entries. */
export const epochMarksSchema = z.strictObject({
  /** The last request as received, and as sent; null if nothing was replaced in it. */
  received: markSchema,
  sent: markSchema.nullable(),
  /** The ends of its last requests, as in `Epoch.ends`. */
  ends: z.array(markSchema),
})
export type EpochMarks = z.infer<typeof epochMarksSchema>

/** The figures of an epoch, some kilobytes at any length of the conversation. */
export const epochStateSchema = epochSchema
  .omit({ entries: true, sent: true, ends: true, stubs: true, cover: true, expansions: true })
  .extend({ marks: epochMarksSchema })
export type EpochState = z.infer<typeof epochStateSchema>

/** A stub without its text, which is made again from the result in the request. */
export const storedStubSchema = stubSchema.omit({ text: true, reference: true })
export type StoredStub = z.infer<typeof storedStubSchema>

/** Texts that no request can give again: contents of the conversation. */
export const epochTextsSchema = z.strictObject({
  cover: coverSchema.nullable(),
  expansions: z.array(expansionSchema),
})
export type EpochTexts = z.infer<typeof epochTextsSchema>

/** An epoch in the form in which it outlives a process. */
export const storedEpochSchema = z.strictObject({
  state: epochStateSchema,
  stubs: z.array(storedStubSchema),
  /** Null without a cover and expansions. */
  texts: epochTextsSchema.nullable(),
})
export type StoredEpoch = z.infer<typeof storedEpochSchema>
