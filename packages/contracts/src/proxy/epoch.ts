import { z } from 'zod'

/** A text that is sent in place of a result's. */
export const stubSchema = z.strictObject({
  /** The entry, by its position in the request. */
  entry: z.int().min(0),
  /** Position of the result among those of the entry that may be replaced. */
  result: z.int().min(0),
  callId: z.string(),
  reference: z.string(),
  text: z.string(),
  tokensBefore: z.int(),
  tokensAfter: z.int(),
  /** Size of the lines that it was made for: from the result and this number, the same text is made again. */
  tokensKept: z.number(),
})
export type Stub = z.infer<typeof stubSchema>

/** A text that is sent in place of the entries from the first that is no instruction. */
export const coverSchema = z.strictObject({
  /** The first entry that is sent itself. */
  to: z.int().min(1),
  /** The chain of the last covered entry, by which another history is recognized. */
  chain: z.string(),
  /** Made from the stored thread. */
  text: z.string(),
  /** The covered entry with the user's last words, which are repeated after the text; null without one. */
  words: z.int().min(0).nullable(),
  tokensBefore: z.int(),
  tokensAfter: z.int(),
  /** The stored context that the text is from. */
  contextId: z.string().optional(),
})
export type Cover = z.infer<typeof coverSchema>

/**
 * A reply during which the proxy answered calls of its own tool. The client has it as one entry without them; the provider
 * gets what it said and read.
 */
export const expansionSchema = z.strictObject({
  /** The client's entry, by its position in the request. */
  entry: z.int().min(0),
  /** Ids of the calls that the client got, by which its entry is recognized. */
  callIds: z.array(z.string()),
  /** JSON texts of the entries in its place. */
  entries: z.array(z.string()),
  /** JSON texts of the results that precede those of the client in the entry after it. */
  results: z.array(z.string()),
  /** Estimated tokens that it adds. */
  tokens: z.int(),
})
export type Expansion = z.infer<typeof expansionSchema>

/**
 * The state of a conversation with its provider: what was sent last, in a form that gives the same bytes again. Inside an
 * epoch no byte of the sent prefix changes; a new epoch begins where it has to.
 */
export const epochSchema = z.strictObject({
  number: z.int().min(1),
  model: z.string(),
  /** Hash of the head of the last request. */
  head: z.string(),
  /** Hashes of the entries of the last request as received. */
  entries: z.array(z.string()),
  /** The same as sent; null if nothing was replaced. */
  sent: z.array(z.string()).nullable(),
  stubs: z.array(stubSchema),
  cover: coverSchema.nullable(),
  expansions: z.array(expansionSchema),
  /** Whether the proxy's own tool is among the tools that were sent, and the head that was sent with it. */
  hasRecallTool: z.boolean(),
  sentHead: z.string(),
  /** Entries of its last requests whose ends are the same in this one: a provider may have a cached prefix there. */
  ends: z.array(z.int()),
  /** Expected micro-dollars of the input of all its requests: as received, and as sent. */
  costs: z.strictObject({ direct: z.number(), sent: z.number() }),
  /** Requests since the conversation began, and since this epoch did. */
  requests: z.int(),
  requestsInEpoch: z.int(),
  /** Estimated tokens of the last request as it was sent, head included. */
  sentTokens: z.int(),
  /** Tokens as the provider counted them, for each estimated one; 1 before its first count. */
  tokenRatio: z.number(),
  sentAtMs: z.number(),
})
export type Epoch = z.infer<typeof epochSchema>
