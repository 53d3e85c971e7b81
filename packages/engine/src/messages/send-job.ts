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
  /** Whether each job waits until the queue has capacity. False if the capacity was checked before. */
  readonly waitsForCapacity: boolean
}

/** How often a producer without a reply checks the store: less often than busy workers take to reply. */
const POLL_EVERY_MS = 5_000
/**
 * A job without a reply is sent again after this time, because its queue may have lost it. The wait doubles each time: if
 * workers are only slow, copies at a constant rate would fill the queue faster than they are processed.
 */
const RESEND_AFTER_MS = 5_000
const RESEND_AFTER_MS_MAX = 60_000

/** Parts of a client that a sender uses. */
export type SenderParts = Pick<EngineContext, 'store' | 'queues' | 'projectId' | 'log'>

/**
 * Sends a job until it is acknowledged, with the same ids each time.
 *
 * @throws ConflictError if an id is used by another message; PermanentError if the job is refused
 * @throws RetryableError once the deadline has passed: `TIMEOUT`, or the reason why the queue did not accept the job
 */
export function sendJob(
  parts: SenderParts,
  threadId: string,
  outgoing: OutgoingJob,
  options: SendOptions,
): Promise<void> {
  if (options.ack === 'stored') return new Sending(parts, threadId, outgoing, options).untilStored()
  return retryUntil(async () => {
    if (options.waitsForCapacity) await parts.queues.admit({ jobs: 1, bytes: outgoing.bytes })
    // No caller waits for the reply, but it ends the job in the count of open jobs.
    await parts.queues.add('ingest', { ...outgoing.job, replyTo: parts.queues.inbox }, outgoing.bytes)
  }, options)
}

/**
 * Sends one job until it is stored, repeatedly while there is no reply: the queue may have lost it, or may be down. The ids
 * of the messages make repeats harmless.
 *
 * It uses callbacks instead of async functions that wait for each other: a producer has thousands of these at once, and
 * their state is most of its memory.
 */
class Sending {
  readonly #parts: SenderParts
  readonly #threadId: string
  readonly #outgoing: OutgoingJob
  readonly #options: SendOptions
  #expected: ExpectedReply<true> | undefined
  #cancelNext: (() => void) | undefined
  #sent = 0
  /** Since the queue last accepted the job. */
  #failures = 0
  /** Why the queue has never accepted the job. */
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
      // The worker replies after the commit, so only a lost reply requires a query of the store: many producers that query
      // it while their jobs wait would slow down the worker that they wait for.
      whenOk: true,
      firstReadMs: POLL_EVERY_MS,
      readEveryMs: POLL_EVERY_MS,
      read: () => this.#readStored(),
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
    this.#cancelNext?.()
  }

  #sendSoon(): void {
    this.#send().then(
      () => this.#onSent(),
      (error: unknown) => this.#onUnsent(error),
    )
  }

  async #send(): Promise<void> {
    const { queues } = this.#parts
    // A full queue contains the earlier copy: it must not be filled with further ones.
    if (this.#sent > 0 || this.#options.waitsForCapacity) await queues.admit({ jobs: 1, bytes: this.#outgoing.bytes })
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
    // A permanent refusal: a queue that is down or full would be retried.
    if (!isWorthRetrying(error)) {
      this.#expected?.fail(error)
      return
    }
    if (this.#sent === 0) this.#whyUnsent = error
    this.#note(error)
    this.#sendAfter(pauseAfter(error, this.#failures++))
  }

  #sendAfter(ms: number): void {
    if (this.#expected !== undefined) this.#cancelNext = this.#options.clock.after(ms, () => this.#sendSoon())
  }

  async #readStored(): Promise<true | undefined> {
    const { messages, onUsedId } = this.#outgoing.job
    const stored = await storedOf(this.#parts, this.#threadId, messages, onUsedId)
    return messages.every(({ message }) => stored.has(message.id)) ? true : undefined
  }

  #note(error: unknown): void {
    const { requestId } = this.#outgoing.job
    const isBusy = error instanceof HeddleError && error.code === 'RATE_LIMITED'
    if (isBusy) this.#parts.log?.debug({ requestId }, 'the queue is full; a job waits for capacity')
    else this.#parts.log?.warn({ error, requestId }, 'the queue did not accept a job; it will be sent again')
  }
}
