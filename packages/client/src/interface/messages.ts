import {
  type AppendWarning,
  archiveListSchema,
  limits,
  type MessageInput,
  momentSchema,
  nameSchema,
  type OnUsedId,
  sourceIdSchema,
} from '@heddle/contracts'
import { z } from 'zod'
import type { FormEntries } from '../forms/entries.js'
import type { FormName } from '../forms/index.js'

const limitSchema = z.int().min(1).max(limits.pageItemsMax).default(100)
const orderSchema = z.enum(['asc', 'desc'], { error: 'must be asc or desc' }).default('asc')

export const listMessagesSchema = z.strictObject({
  thread: nameSchema,
  /** The sequence number of the last message of the previous page. */
  cursor: z.string().optional(),
  /** @deprecated The former name of `cursor`. */
  after: z.string().optional().meta({ deprecated: true }),
  limit: limitSchema,
  order: orderSchema,
})

export type ListMessagesOptions = z.input<typeof listMessagesSchema>

export const largestMessagesSchema = z.strictObject({
  thread: nameSchema,
  /** Only results of this tool. */
  tool: archiveListSchema.shape.tool,
  cursor: z.string().optional(),
  limit: limitSchema,
})

export type LargestMessagesOptions = z.input<typeof largestMessagesSchema>

export const listAgentMessagesSchema = z.strictObject({
  agent: nameSchema,
  cursor: z.string().optional(),
  limit: limitSchema,
  order: orderSchema,
  /** Messages at or after this moment: a time, or how long ago, such as `1h`. */
  since: momentSchema.optional(),
  /** Messages before this moment. */
  until: momentSchema.optional(),
})

export type ListAgentMessagesOptions = z.input<typeof listAgentMessagesSchema>

export const findMessagesSchema = z.strictObject({
  /** The message's id at its source, exactly as it was appended. */
  sourceId: sourceIdSchema,
  /** Only threads of this agent. */
  agent: nameSchema.optional(),
  thread: nameSchema.optional(),
  cursor: z.string().optional(),
  limit: limitSchema,
})

export type FindMessagesOptions = z.input<typeof findMessagesSchema>

export type AppendOptions = AppendSettings & AppendMessages

/** A message to append; without an id it gets a new one each time it is appended. */
export type NewMessage = Omit<MessageInput, 'id'> & { readonly id?: string }

export type AppendMessages =
  | { readonly format?: 'neutral'; readonly messages: readonly NewMessage[] }
  | {
      [Form in FormName]: {
        /**
         * A provider's format: messages of requests, and unmodified replies. One entry may become several messages,
         * such as a turn with the results of three calls. Entries with an id of the provider are stored once, however
         * often they are appended; the others get new ids.
         */
        readonly format: Form
        readonly messages: readonly FormEntries[Form][]
      }
    }[FormName]

export interface AppendSettings {
  readonly agent: string
  readonly thread: string
  /**
   * The context that the replies in this append answered: a provider's token usage is used only if the reply's context
   * is known.
   */
  readonly contextId?: string
  /**
   * Derives ids from this key and the positions for messages without one: a repeat with the same key is stored once.
   */
  readonly idempotencyKey?: string
  /**
   * `queued`: the messages are in the queue, even if the store is unavailable; `stored`: they are committed. Only
   * `stored` survives every failure, and only `stored` reports a used id: under `queued` such an append becomes a dead
   * letter. Default `stored`.
   */
  readonly ack?: Ack
  /**
   * Declares ids chosen by the caller as new: messages with chosen ids are checked before sending, unless this is set.
   * Each is stored once in any case, but may be counted as `stored` although it existed. Default false.
   */
  readonly idsAreNew?: boolean
  /** Timeout in milliseconds; unacknowledged messages are resent until then. Default 30,000. */
  readonly deadlineMs?: number
  /**
   * If the queue is full: `wait` for capacity until the deadline, or `fail` with `RATE_LIMITED` before anything is
   * sent. Default `wait` for `stored`, whose caller waits anyway, and `fail` for `queued`, whose caller does not want
   * to wait.
   */
  readonly onBusy?: 'wait' | 'fail'
  /**
   * If the thread has another message with the id of one: `refuse` the append, or `keep` the stored message and count the
   * other one as repeated. `keep` is for sources that repeat a message in several forms, such as a reply with its usage and
   * later without. Default `refuse`.
   */
  readonly onUsedId?: OnUsedId
  /** The rolling window, in seconds, of an agent that this append creates; null for no window. */
  readonly newAgentRollingWindow?: number | null
  /**
   * Continues an earlier append: its first message comes after the last one that this client appended to the thread,
   * whatever its time. Default false.
   */
  readonly continues?: boolean
  /** When the append began: the time of messages without `sentAt`. Default: now. */
  readonly startedAtMs?: number
  readonly signal?: AbortSignal
  /** Called after each acknowledged job, with the number of messages acknowledged so far. */
  readonly onProgress?: (acknowledged: number) => void
}

export interface ProducerOptions {
  readonly agent: string
  /** The meaning of an acknowledgement; see `messages.append`. Default `stored`. */
  readonly ack?: Ack
  /** Messages in one batch: 1 to 500. Default 100. */
  readonly batchMessagesMax?: number
  /** How long a message waits for others of its thread, in milliseconds: 0 to 60,000. Default 10. */
  readonly batchAgeMs?: number
  /** Unacknowledged messages held: 1 to 1,000,000. Default 10,000. As many more may wait for capacity. */
  readonly pendingMessagesMax?: number
  /** The same in characters of JSON, for held messages and for waiting ones: 1 to 1,000,000,000. Default 64,000,000. */
  readonly pendingCharactersMax?: number
  /** Timeout of each message in milliseconds, including the wait for capacity. Default 30,000. */
  readonly deadlineMs?: number
  /** The rolling window, in seconds, of an agent that the producer creates; null for no window. */
  readonly newAgentRollingWindow?: number | null
  /** Called after a batch with messages that contexts do not show, such as those older than the rolling window. */
  readonly onWarning?: (warning: AppendWarning & { readonly thread: string }) => void
}

export interface Acknowledgement {
  readonly threadId: string
  readonly id: string
}

/**
 * Collects the messages of many callers into batches. In a conversation the messages of one producer are in the order
 * in which they were added, whatever their times; the batches of a thread are sent in sequence.
 */
export interface Producer {
  /**
   * Adds one message of a thread. Resolves when the message is acknowledged, which takes longer while the producer or
   * the queue is full: a caller that awaits it is slowed down accordingly.
   *
   * @throws as `messages.append`, for this message only
   * @throws RetryableError `RATE_LIMITED` if callers that do not wait have filled the waiting line;
   * `SERVICE_UNAVAILABLE` if the producer is closed
   */
  add(thread: string, message: NewMessage): Promise<Acknowledgement>
  /** Sends held messages at once, and resolves when all of them were acknowledged or refused. */
  flush(): Promise<void>
  /** Refuses further messages, and flushes. */
  close(): Promise<void>
}

/** `queued`: in the queue; `stored`: committed. */
export type Ack = 'queued' | 'stored'
