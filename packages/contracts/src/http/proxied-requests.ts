import { z } from 'zod'
import { roles, toolCallSchema } from '../messages/messages.js'
import { idSchema, nameSchema } from '../primitives/names.js'
import type { OutputOf } from '../primitives/output-of.js'
import { proxyModeSchema, proxyModeSources } from '../proxy/modes.js'
import { isoTimeSchema, named, pageQuerySchema, pageSchema } from './common.js'

export const proxiedRequestsQuerySchema = pageQuerySchema.extend({
  /** Only those of this thread. */
  thread: nameSchema.optional(),
})

const usageSchema = z.object({
  /** Tokens that were neither read from the provider's cache nor written to it. */
  input: z.int(),
  cacheRead: z.int(),
  cacheWrite: z.int(),
  output: z.int(),
})

export const proxiedRequestSchema = named(
  'ProxiedRequest',
  z.object({
    id: idSchema,
    thread: z.string(),
    at: isoTimeSchema,
    /** The name of the upstream in the configuration. */
    upstream: z.string(),
    protocol: z.enum(['anthropic', 'openai-chat', 'openai-responses']),
    model: z.string(),
    /** The mode that was asked for; `passed`, `stubs` and `coveredEntries` say how the request was sent. */
    mode: proxyModeSchema,
    /** The place where the mode was chosen. */
    modeSource: z.enum(proxyModeSources),
    /** Whether its conversation stays unchanged for comparison. */
    isControl: z.boolean(),
    /** Inside an epoch no byte of the sent prefix changes. */
    epoch: z.int(),
    reasons: z.array(z.string()),
    /** Why it was sent as it came against its mode; else null. */
    passed: z.string().nullable(),
    entries: z.int(),
    /** Results that were sent shortened. */
    stubs: z.int(),
    /** Entries in whose place a summary was sent. */
    coveredEntries: z.int(),
    /** Estimated. */
    tokens: z.object({ received: z.int(), sent: z.int(), cached: z.int() }),
    /** As the provider counted; null without its count. */
    usage: usageSchema.nullable(),
    /** By the provider's count and list prices; null without either. */
    costUsd: z.number().nullable(),
    /** The estimated cost of the request as it came. */
    directCostUsd: z.number().nullable(),
    /** Texts that the model recalled by the proxy's own tool. */
    recalls: z.int(),
    /** Cost of the further requests for them, a part of `costUsd`; null without a count, or without recalls. */
    recallCostUsd: z.number().nullable(),
    /** Of the reply; 0 without one. */
    status: z.int(),
    /** Until the proxy sent it on. */
    addedMs: z.number(),
    /** Until the head of the reply; null without one. */
    firstByteMs: z.number().nullable(),
  }),
)
/** A request to a provider that the proxy relayed. */
export type ProxiedRequest = OutputOf<typeof proxiedRequestSchema>
export const proxiedRequestPageSchema = named('ProxiedRequestPage', pageSchema(proxiedRequestSchema))

export const proxiedRequestParamsSchema = z.strictObject({ request: idSchema })

const bodySchema = z.object({
  bytes: z.int(),
  /** In hexadecimal digits. */
  sha256: z.string(),
})

const viewedMessageSchema = z.object({
  id: idSchema,
  /** Recalls the whole message. */
  reference: z.string(),
  /** `missing` if it was not stored, or not yet. */
  state: z.enum(['stored', 'erased', 'missing']),
  role: z.enum(roles).optional(),
  /** At most 20,000 characters of it; empty for one that is not there. */
  content: z.string(),
  isCut: z.literal(true).optional(),
  toolName: z.string().optional(),
  toolCallId: z.string().optional(),
  toolCalls: z.array(toolCallSchema).optional(),
  isError: z.literal(true).optional(),
})

const viewedEntrySchema = z.object({
  /** Its position in the request as received. */
  index: z.int(),
  kind: z.enum(['instruction', 'user', 'assistant', 'results']),
  /** Whether it was sent itself, with other texts in place of its results, or not at all, being covered. */
  sentAs: z.enum(['itself', 'stub', 'covered']),
  bytes: z.int(),
  /** Estimated: as received, and of what was sent in its place. */
  tokens: z.object({ received: z.int(), sent: z.int() }),
  /** The stored messages that it was. */
  messages: z.array(viewedMessageSchema),
  /** Texts that were sent in place of results; null for one that was erased. */
  stubs: z.array(
    z.object({
      messageId: idSchema,
      reference: z.string(),
      text: z.string().nullable(),
      tokensBefore: z.int(),
      tokensAfter: z.int(),
    }),
  ),
  /** References that the model recalled in this reply; the calls and the texts were sent with it, and the client has neither. */
  recalls: z.array(z.string()),
})

export const proxiedRequestViewSchema = named(
  'ProxiedRequestView',
  z.object({
    request: proxiedRequestSchema,
    /** False if only the figures of the request are there. */
    isRecorded: z.boolean(),
    /** The bodies were not stored: the entries are put together from stored messages, and may differ in spelling. */
    received: bodySchema.nullable(),
    /** Equal to `received` if nothing was replaced. */
    sent: bodySchema.nullable(),
    /** Whether the proxy's own tool was added to the caller's. */
    hasRecallTool: z.boolean(),
    /** Fields besides the conversation, on the first page alone. */
    head: z
      .object({
        /** Estimated. */
        tokens: z.int(),
        fields: z.array(
          z.object({
            name: z.string(),
            bytes: z.int(),
            /** Null if it is too long to be kept. */
            text: z.string().nullable(),
          }),
        ),
        /** Fields that are not kept, since they may identify or authorize somebody. */
        omitted: z.int(),
      })
      .nullable(),
    /** The text that was sent in place of the entries from `from` on, before `to`; null if it was erased. */
    cover: z
      .object({
        from: z.int(),
        to: z.int(),
        text: z.string().nullable(),
        tokensBefore: z.int(),
        tokensAfter: z.int(),
      })
      .nullable(),
    /** The entries of the conversation as received, in their order. */
    items: z.array(viewedEntrySchema),
    nextCursor: z.string().nullable(),
  }),
)
/** A request as it was received and as it was sent. */
export type ProxiedRequestView = OutputOf<typeof proxiedRequestViewSchema>
export type ViewedEntry = ProxiedRequestView['items'][number]

export const proxyTotalsSchema = named(
  'ProxyTotals',
  z.object({
    mode: proxyModeSchema,
    isControl: z.boolean(),
    model: z.string(),
    requests: z.int(),
    threads: z.int(),
    /** Requests that were sent as they came against their mode. */
    passed: z.int(),
    /** Estimated. */
    tokens: z.object({ received: z.int(), sent: z.int() }),
    /** Of the requests that the provider counted. */
    usage: usageSchema,
    /** Of the requests in `priced`. */
    costUsd: z.number(),
    directCostUsd: z.number(),
    recalls: z.int(),
    /** Part of `costUsd`. */
    recallCostUsd: z.number(),
    /** Requests with a count of the provider and known prices. */
    priced: z.int(),
  }),
)
/** Sums of relayed requests by mode and model. */
export type ProxyTotals = OutputOf<typeof proxyTotalsSchema>

const comparedSchema = z.object({ threads: z.int(), requests: z.int(), costUsd: z.number() })

export const proxyComparisonSchema = named(
  'ProxyComparison',
  z.object({
    mode: z.enum(['stub', 'compact']),
    /** Conversations for which the mode was asked, and those of them that stayed unchanged for comparison; the newest ones. */
    treated: comparedSchema,
    control: comparedSchema,
    /** Cost of a request in treated conversations, divided by that in the others; null without requests of either. */
    ratio: z.number().nullable(),
    /** Its interval of 95 %, by a bootstrap over conversations; null with too few of them. */
    interval: z.object({ low: z.number(), high: z.number() }).nullable(),
  }),
)
/** The cost of a mode beside that of conversations which stayed unchanged by chance. */
export type ProxyComparison = OutputOf<typeof proxyComparisonSchema>

export const proxyTotalsPageSchema = named(
  'ProxyTotalsPage',
  pageSchema(proxyTotalsSchema).extend({
    /** By mode; empty without a control share. */
    comparisons: z.array(proxyComparisonSchema),
  }),
)
export type ProxyStats = OutputOf<typeof proxyTotalsPageSchema>
