import { isWorthRetrying, pauseAfter, type RetryPolicy, retryUntil } from '@heddle/client/calls'
import type { Ack } from '@heddle/client/interface'
import { HeddleError } from '@heddle/contracts'
import type { ExpectedReply } from '@heddle/queue'
import { backOffMs } from '@heddle/runtime'
import type { EngineContext } from '../setup/options.js'
import { storedOf } from './existing-messages.js'
import type { OutgoingJob } from './split-append.js'

export interface SendOptions extends RetryPolicy {
  readonly ack: Ack
  /** False where room was asked for before. */
  readonly asksForRoom: boolean
}

/** How often a producer without an answer looks into the store: later than answers come from workers that are busy. */
const POLL_EVERY_MS = 5_000
/**
 * A job that brought no answer for so long is sent again: it may have been lost with its queue. Each time it waits twice as
 * long: where workers are slow, not gone, copies at an even pace would fill the queue faster than they can empty it.
 */
const RESEND_AFTER_MS = 5_000
const RESEND_AFTER_MS_MAX = 60_000

/** What a sender needs of a client. */
export type SenderParts = Pick<EngineContext, 'store' | 'queues' | 'projectId' | 'log'>

/**
 * Sends a job until it is acknowledged, with the same ids each time.
 *
 * @throws ConflictError where an id is taken by another message; PermanentError where the job is refused
 * @throws RetryableError once the deadline has passed: `TIMEOUT`, or why the queue did not take the job until then
 */
export function sendJob(
  parts: SenderParts,
  threadId: string,
  outgoing: OutgoingJob,
  options: SendOptions,
): Promise<void> {
  if (options.ack === 'stored') return new Sending(parts, threadId, outgoing, options).untilStored()
  return retryUntil(async () => {
    if (options.asksForRoom) await parts.queues.admit({ jobs: 1, bytes: outgoing.bytes })
    // Nobody waits for the reply, but what has ended does not count as under way.
    await parts.queues.add('ingest', { ...outgoing.job, replyTo: parts.queues.inbox }, outgoing.bytes)
  }, options)
}

/**
 * The sending of one job until it is stored, again while no answer comes: the queue may have lost it, or may be away. The
 * ids of the messages make that harmless.
 *
 * It is made of callbacks, not of async functions that wait for each other: thousands of these are under way at once, and
 * what is kept of each is what its producer's memory is made of.
 */
class Sending {
  readonly #parts: SenderParts
  readonly #threadId: string
  readonly #outgoing: OutgoingJob
  readonly #options: SendOptions
  #expected: ExpectedReply<true> | undefined
  #callOffNext: (() => void) | undefined
  #sent = 0
  /** Since the queue took the job last. */
  #failures = 0
  /** Why the queue has not taken the job even once. */
  #whyUnsent: unknown

  constructor(parts: SenderParts, threadId: string, outgoing: OutgoingJob, options: SendOptions) {
    this.#parts = parts
    this.#threadId = threadId
    this.#outgoing = outgoing
    this.#options = options
  }

  untilStored(): Promise<void> {
    const { clock, endsAtMs, signal } = this.#options
    const expected = this.#parts.queues.expectReply<true>({
      requestId: this.#outgoing.job.requestId,
      deadlineMs: Math.max(1, Math.ceil(endsAtMs - clock.monotonicMs())),
      signal,
      // The worker replies after the commit. Only a reply that was lost makes it worth a look into the store: many producers
      // that look while their jobs wait would take the time of the very worker that they wait for.
      whenOk: true,
      firstReadMs: POLL_EVERY_MS,
      readEveryMs: POLL_EVERY_MS,
      read: () => this.#look(),
    })
    this.#expected = expected
    this.#sendSoon()
    return expected.result.then(
      () => this.#stop(),
      (error: unknown) => {
        this.#stop()
        const isLate = error instanceof HeddleError && error.code === 'TIMEOUT'
        throw isLate ? (this.#whyUnsent ?? error) : error
      },
    )
  }

  #stop(): void {
    this.#expected = undefined
    this.#callOffNext?.()
  }

  #sendSoon(): void {
    this.#send().then(
      () => this.#onSent(),
      (error: unknown) => this.#onUnsent(error),
    )
  }

  async #send(): Promise<void> {
    const { queues } = this.#parts
    // A queue that is full holds what was sent before: it is not made fuller with copies of it.
    if (this.#sent > 0 || this.#options.asksForRoom) await queues.admit({ jobs: 1, bytes: this.#outgoing.bytes })
    if (this.#expected === undefined) return
    await queues.add('ingest', { ...this.#outgoing.job, replyTo: queues.inbox })
  }

  #onSent(): void {
    const pauseMs = backOffMs(this.#sent, { firstMs: RESEND_AFTER_MS, maxMs: RESEND_AFTER_MS_MAX })
    this.#sent++
    this.#failures = 0
    this.#whyUnsent = undefined
    this.#sendAfter(pauseMs)
  }

  #onUnsent(error: unknown): void {
    // It will not change its mind, while one that is away or full may.
    if (!isWorthRetrying(error)) {
      this.#expected?.fail(error)
      return
    }
    if (this.#sent === 0) this.#whyUnsent = error
    this.#note(error)
    this.#sendAfter(pauseAfter(error, this.#failures++))
  }

  #sendAfter(ms: number): void {
    if (this.#expected !== undefined) this.#callOffNext = this.#options.clock.after(ms, () => this.#sendSoon())
  }

  async #look(): Promise<true | undefined> {
    const { messages } = this.#outgoing.job
    const stored = await storedOf(this.#parts, this.#threadId, messages)
    return messages.every(({ message }) => stored.has(message.id)) ? true : undefined
  }

  #note(error: unknown): void {
    const { requestId } = this.#outgoing.job
    const isBusy = error instanceof HeddleError && error.code === 'RATE_LIMITED'
    if (isBusy) this.#parts.log?.debug({ requestId }, 'the queue is full; a job waits for room')
    else this.#parts.log?.warn({ error, requestId }, 'the queue did not take a job; it will be sent again')
  }
}
