import { limits, type Reply, RetryableError, validationError } from '@heddle/contracts'
import type { Clock } from '@heddle/runtime'
import { decodeReplies } from './messages.js'
import { type ReplyExpectation, Waiter } from './reply-waiter.js'

export interface ExpectedReply<T> {
  /**
   * Settles by the deadline, whatever happens.
   *
   * @throws the error that the worker replied with; RetryableError `TIMEOUT`; the signal's reason
   */
  readonly result: Promise<T>
  /** Ends the wait with an error; for a caller whose job could not be enqueued. */
  fail(error: unknown): void
  /** Stops waiting. */
  cancel(): void
}

/** What the inbox needs of a waiter, whatever it waits for. */
type Listener = Pick<Waiter<unknown>, 'onReply' | 'fail'>

/**
 * The place where replies arrive. A reply is only a hint that the answer stands in the store: who waits also looks there
 * on a timer, so that a lost message costs a moment, never the answer.
 */
export class Inbox {
  readonly #clock: Clock
  readonly #onEnd: (requestId: string) => void
  readonly #waiters = new Map<string, Set<Listener>>()

  /** @param onEnd told of each reply that has come */
  constructor(clock: Clock, onEnd: (requestId: string) => void = () => {}) {
    this.#clock = clock
    this.#onEnd = onEnd
  }

  /** How many callers wait now. */
  get size(): number {
    return this.#waiters.size
  }

  /** Registers at once: call it before enqueuing, so that no reply is too early. */
  expect<T>(expectation: ReplyExpectation<T>): ExpectedReply<T> {
    const { requestId, deadlineMs } = expectation
    if (!(deadlineMs >= 1 && deadlineMs <= limits.waitMsMax)) {
      throw validationError('deadlineMs', `must be 1 to ${limits.waitMsMax} milliseconds`, deadlineMs)
    }
    const waiter: Waiter<T> = new Waiter(expectation, this.#clock, () => this.#forget(requestId, waiter))
    const waiters = this.#waiters.get(requestId) ?? new Set()
    waiters.add(waiter)
    this.#waiters.set(requestId, waiters)
    waiter.start()
    return { result: waiter.result, fail: (error) => waiter.fail(error), cancel: () => waiter.cancel() }
  }

  expects(requestId: string): boolean {
    return this.#waiters.has(requestId)
  }

  /** Takes a message from outside, a list of replies: what is none, or comes too late, is dropped. */
  receive(text: string): void {
    for (const reply of decodeReplies(text)) this.deliver(reply)
  }

  deliver(reply: Reply): void {
    this.#onEnd(reply.requestId)
    for (const waiter of this.#waiters.get(reply.requestId) ?? []) waiter.onReply(reply)
  }

  close(): void {
    const error = new RetryableError('SERVICE_UNAVAILABLE', 'The queues are closing')
    for (const waiters of this.#waiters.values()) for (const waiter of waiters) waiter.fail(error)
  }

  #forget(requestId: string, waiter: Listener): void {
    const waiters = this.#waiters.get(requestId)
    waiters?.delete(waiter)
    if (waiters?.size === 0) this.#waiters.delete(requestId)
  }
}
