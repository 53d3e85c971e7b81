import { type AppendWarning, limits, type MessageInput, nameSchema } from '@heddle/contracts'
import { z } from 'zod'
import type { FormEntries } from '../forms/entries.js'
import type { FormName } from '../forms/index.js'

export const listMessagesSchema = z.strictObject({
  thread: nameSchema,
  /** The sequence number of the last message of the page before. */
  cursor: z.string().optional(),
  /** @deprecated The name that `cursor` had. */
  after: z.string().optional().meta({ deprecated: true }),
  limit: z.int().min(1).max(limits.pageItemsMax).default(100),
  order: z.enum(['asc', 'desc'], { error: 'must be asc or desc' }).default('asc'),
})

export type ListMessagesOptions = z.input<typeof listMessagesSchema>

export type AppendOptions = AppendSettings & AppendMessages

/** A message to be appended; without an id it gets one, and is then a message of its own each time it is appended. */
export type NewMessage = Omit<MessageInput, 'id'> & { readonly id?: string }

/** Messages, and the form that they are in. */
export type AppendMessages =
  | { readonly format?: 'neutral'; readonly messages: readonly NewMessage[] }
  | {
      [Form in FormName]: {
        /**
         * The form of a provider's package: messages of requests, and replies as they came. One entry may be several messages
         * here, such as a turn with the results of three calls. What has an id of the provider's is stored once however often
         * it is appended; the others get new ids.
         */
        readonly format: Form
        readonly messages: readonly FormEntries[Form][]
      }
    }[FormName]

export interface AppendSettings {
  readonly agent: string
  readonly thread: string
  /**
   * The context that the replies in this append answered: what a provider reports of a reply's tokens counts where its
   * context is known.
   */
  readonly contextId?: string
  /** Gives messages without an id one that is made of this key and their places: sent again under it, they are stored once. */
  readonly idempotencyKey?: string
  /**
   * `queued`: the queue has them, whether or not the store is there; `stored`: they are committed. Only `stored` survives
   * everything, and only `stored` tells of an id that is taken: under `queued` such an append becomes a dead letter.
   * Default `stored`.
   */
  readonly ack?: Ack
  /**
   * Says of ids that the caller chose that they are new: messages under chosen ids are looked up before
   * anything is sent, and these are not. Each is stored once all the same, but counts as `stored` though it may have been there
   * before. Default false.
   */
  readonly idsAreNew?: boolean
  /** How long to wait, in milliseconds; what is not acknowledged is sent again and again until then. Default 30,000. */
  readonly deadlineMs?: number
  /**
   * While the queue is full: `wait` for room until the deadline, or `fail` with `RATE_LIMITED` before anything is sent.
   * Default `wait` for `stored`, whose caller waits anyway, and `fail` for `queued`, whose caller wants to be gone.
   */
  readonly onBusy?: 'wait' | 'fail'
  /** The rolling window, in seconds, of an agent that this append creates; null for none. */
  readonly newAgentRollingWindow?: number | null
  /**
   * A further part of something longer: its first message comes after the last one that this client appended to the thread,
   * whatever time it names. Default false.
   */
  readonly continues?: boolean
  /** When the append began: the place in time of messages without `sentAt`. Default now. */
  readonly startedAtMs?: number
  readonly signal?: AbortSignal
  /** Told with each job that was acknowledged: how many messages were until then. */
  readonly onProgress?: (acknowledged: number) => void
}

export interface ProducerOptions {
  readonly agent: string
  /** What an acknowledgement means; see `messages.append`. Default `stored`. */
  readonly ack?: Ack
  /** Messages in one batch: 1 to 500. Default 100. */
  readonly batchMessagesMax?: number
  /** How long a message waits for others of its thread, in milliseconds: 0 to 60,000. Default 10. */
  readonly batchAgeMs?: number
  /** Messages that are held without an acknowledgement: 1 to 1,000,000. Default 10,000. As many more may wait for room. */
  readonly pendingMessagesMax?: number
  /** The same in characters of JSON, for those that are held and for those that wait: 1 to 1,000,000,000. Default 64,000,000. */
  readonly pendingCharactersMax?: number
  /** How long each message is tried, in milliseconds, the wait for room included. Default 30,000. */
  readonly deadlineMs?: number
  /** The rolling window, in seconds, of an agent that the producer creates; null for none. */
  readonly newAgentRollingWindow?: number | null
  /** Called after a batch with messages that contexts do not show, such as those older than the rolling window. */
  readonly onWarning?: (warning: AppendWarning & { readonly thread: string }) => void
}

export interface Acknowledgement {
  readonly threadId: string
  /** The id of the message. */
  readonly id: string
}

/**
 * Gathers the messages of many callers into batches. In a conversation the messages of one producer stand in the order in
 * which they were added, whatever times they name; the batches of a thread are sent one after the other.
 */
export interface Producer {
  /**
   * Hands in one message of a thread. It resolves when the message is acknowledged; while the producer holds as much as it
   * may, and while the queue is full, that takes longer. So who awaits it is never too fast.
   *
   * @throws as `messages.append`, for this message alone
   * @throws RetryableError `RATE_LIMITED` where callers that do not wait have filled the line for room;
   *   `SERVICE_UNAVAILABLE` where the producer is closed
   */
  add(thread: string, message: NewMessage): Promise<Acknowledgement>
  /** Sends what is held without waiting for more, and resolves when all of it was acknowledged or refused. */
  flush(): Promise<void>
  /** Takes no more, and flushes. */
  close(): Promise<void>
}

/** `queued`: the queue has them; `stored`: they are committed. */
export type Ack = 'queued' | 'stored'
