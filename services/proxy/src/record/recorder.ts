import type { Ack } from '@heddle/client/interface'
import type { JsonObject, MessageInput } from '@heddle/contracts'
import { type Clock, Limiter, type Logger, within } from '@heddle/runtime'
import type { ProxyBackend, RelayedRequest } from '../backend.js'
import type { Conversation } from '../conversation/conversations.js'
import type { ProxyMetrics } from '../metrics.js'
import { appendMessages } from './append-messages.js'
import { KnownMessages } from './known-messages.js'
import { type NewMessages, newMessagesOf, newMessagesOfReply, withoutRefused } from './new-messages.js'
import { relayedView, type Viewing, withViewed } from './relayed-view.js'

export interface RecorderOptions {
  readonly metrics: ProxyMetrics
  readonly log: Logger
  readonly clock: Clock
  backend(): ProxyBackend | null
}

export interface Recorded extends Pick<Viewing, 'request' | 'body' | 'rendered' | 'plan' | 'before'> {
  readonly conversation: Conversation
  /** Null if there was no whole reply. */
  readonly reply: JsonObject | null
  readonly row: RelayedRequest
}

/** Exchanges that wait to be stored; what is dropped beyond them is stored with the next request of its conversation. */
const WAITING_MAX = 1_000
/** Exchanges that are stored at the same moment: the first one of a long conversation is parsed as a whole. */
const STORING_MAX = 4
/** Longest time of one append. */
const APPEND_MS_MAX = 10_000
/** After a failed append the next ones are dropped for a while: a store that is away answers none of them. */
const AWAY_MS = 2_000

/** Stores what is new in requests and replies, after they were relayed. Never throws. */
export class Recorder {
  readonly #options: RecorderOptions
  readonly #storing = new Limiter({ atOnce: STORING_MAX })
  #waiting = 0
  #awayUntilMs = Number.NEGATIVE_INFINITY

  constructor(options: RecorderOptions) {
    this.#options = options
  }

  /**
   * Takes the place of an exchange among those of its conversation, before its reply is read: the next request may repeat the
   * reply, without its model and usage. Resolves once it is stored or dropped.
   *
   * @param reading what is recorded; it rejects if nothing can be
   */
  async record(conversation: Conversation, reading: Promise<Recorded>): Promise<void> {
    // It may fail before the exchanges ahead of it are stored.
    reading.catch(() => {})
    if (this.#waiting >= WAITING_MAX) return this.#options.metrics.recorded('queue-full')
    this.#waiting++
    const store = async () => this.#store(await reading)
    const stored = conversation.stored.then(() => this.#storing.run(store, { key: conversation.project }))
    conversation.stored = stored.catch(() => {})
    try {
      await stored
    } finally {
      this.#waiting--
    }
  }

  /**
   * Stores the messages of a request before it is sent.
   *
   * @param isWhole whether also those are sent to the store that are on their way to it
   * @returns false if one of them is not stored, or not in time
   */
  async storeNow(
    { conversation, request, body }: Pick<Recorded, 'conversation' | 'request' | 'body'>,
    timeoutMs: number,
    isWhole = false,
  ): Promise<boolean> {
    const { clock, metrics } = this.#options
    if (clock.monotonicMs() < this.#awayUntilMs) return false
    const storing = conversation.stored.then(async () => {
      const known = isWhole ? new KnownMessages() : conversation.known
      const found = newMessagesOf(request, body, { ...conversation, known })
      return found.skipped === 0 && (await this.#append(conversation, found, 'stored')) === 0
    })
    conversation.stored = storing.then(
      () => {},
      () => {},
    )
    try {
      return await within(storing, { timeoutMs, late: () => false, clock })
    } catch {
      metrics.recorded('failed')
      this.#awayUntilMs = clock.monotonicMs() + AWAY_MS
      return false
    }
  }

  /** Stores the figures of a request that was not answered, and what it was made of. Never rejects. */
  async recordRefused(recorded: Omit<Recorded, 'reply'>): Promise<void> {
    const { conversation, request, body } = recorded
    const record = () => {
      const { known } = conversation
      // A request without an answer is not stored; its messages will have these ids if it is repeated.
      const { from, keys } = newMessagesOf(request, body, conversation).added
      return this.#recordRow(recorded, (entry) =>
        entry < from ? known.idsOf(entry) : keys.filter((each) => each.entry === entry).map(({ id }) => id),
      )
    }
    const recording = conversation.stored.then(() => this.#storing.run(record, { key: conversation.project }))
    conversation.stored = recording.catch(() => {})
    await recording
  }

  async #recordRow(recorded: Omit<Recorded, 'reply'>, messagesOf: Viewing['messagesOf']): Promise<void> {
    const { metrics, log, clock } = this.#options
    const { conversation, row } = recorded
    const backend = this.#options.backend()
    if (backend === null || clock.monotonicMs() < this.#awayUntilMs) return metrics.recorded('row-lost')
    try {
      const { threadId, viewed: before } = conversation
      const { view, viewed } = relayedView({ ...recorded, id: row.id, threadId, messagesOf, viewed: before })
      const isViewed = await backend.recordRequest?.(conversation.project, row, view)
      conversation.viewed = isViewed === true ? withViewed(conversation.viewed, viewed) : []
    } catch (error) {
      metrics.recorded('row-lost')
      log.warn({ error }, 'the figures of a relayed request could not be stored')
    }
  }

  async #store({ reply, ...recorded }: Recorded): Promise<void> {
    const { metrics, log, clock } = this.#options
    const { conversation, request, body } = recorded
    if (clock.monotonicMs() < this.#awayUntilMs) return metrics.recorded('store-away')
    try {
      const { protocol } = request
      const found = newMessagesOf(request, body, conversation)
      const refused = await this.#append(conversation, found)
      if (refused === null) return metrics.recorded('store-away')
      if (reply !== null) await this.#append(conversation, newMessagesOfReply(protocol, reply, conversation))
      metrics.recorded('stored')
      await this.#recordRow(recorded, (entry) => conversation.known.idsOf(entry))
    } catch (error) {
      this.#awayUntilMs = clock.monotonicMs() + AWAY_MS
      metrics.recorded('failed')
      log.warn({ error }, 'storing a conversation failed; its next request is stored with it')
    }
  }

  /**
   * The conversation knows messages only once they are stored, so that those of a failed append come again.
   *
   * @returns the number of refused messages; null if there is no store yet
   */
  async #append(
    conversation: Conversation,
    { messages, added, skipped }: NewMessages,
    ack: Ack = 'queued',
  ): Promise<number | null> {
    const client = this.#options.backend()?.clientOf(conversation.project)
    if (client === undefined) return null
    const refused = await appendMessages(
      { ...conversation, messages: client.messages, ack, deadlineMs: APPEND_MS_MAX },
      messages satisfies readonly MessageInput[],
    )
    this.#options.metrics.messages(messages.length - refused.length, refused.length + skipped)
    conversation.known.add(withoutRefused(added, refused))
    return refused.length
  }
}
