import { limits, type Reply, RetryableError, validationError } from '@heddle/contracts'
import type { Clock } from '@heddle/runtime'
import { bounds } from '../base/bounds.js'
import { type ExpectedReply, type ReplyExpectation, Waiter } from './reply-waiter.js'
import { decodeReplies } from './wire-format.js'

/** What the inbox needs of a waiter, whatever it waits for. */
type Listener = Pick<Waiter<unknown>, 'onReply' | 'fail'>

/**
 * The place where replies arrive. A reply is only a hint that the answer stands in the store: who waits also looks there
 * on a timer, so that a lost message costs a moment, never the answer.
 */
export class Inbox {
  readonly #clock: Clock
  readonly #onEnd: (requestId: string) => void
  readonly #late: (deadlineMs: number) => string | null
  readonly #waiters = new Map<string, readonly Listener[]>()
  /** Those whose replies may bring the answer along. */
  #answers = 0

  /**
   * @param options.onEnd told of each reply that has come
   * @param options.late what to do where a wait ends without one, if there is more to say than to ask again
   */
  constructor(
    clock: Clock,
    {
      onEnd = () => {},
      late = () => null,
    }: { onEnd?: (requestId: string) => void; late?: (deadlineMs: number) => string | null } = {},
  ) {
    this.#clock = clock
    this.#onEnd = onEnd
    this.#late = late
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
    const takesAnswer = expectation.open !== undefined && this.#answers < bounds.answersAtOnceMax
    if (takesAnswer) this.#answers++
    const onEnd = () => {
      if (takesAnswer) this.#answers--
      this.#forget(requestId, waiter)
    }
    const waiter: Waiter<T> = new Waiter(expectation, { clock: this.#clock, takesAnswer, onEnd, late: this.#late })
    const others = this.#waiters.get(requestId)
    this.#waiters.set(requestId, others === undefined ? [waiter] : [...others, waiter])
    waiter.start()
    return waiter
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
    const others = this.#waiters.get(requestId)?.filter((each) => each !== waiter) ?? []
    if (others.length === 0) this.#waiters.delete(requestId)
    else this.#waiters.set(requestId, others)
  }
}
