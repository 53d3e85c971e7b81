import { limits, type Reply, RetryableError, validationError } from '@heddle/contracts'
import { beginSpan, type Clock } from '@heddle/runtime'
import { bounds } from '../base/bounds.js'
import { type ExpectedReply, type ReplyExpectation, Waiter } from './reply-waiter.js'
import { decodeReplies } from './wire-format.js'

/** The methods of a waiter that the inbox calls, for answers of any type. */
type Listener = Pick<Waiter<unknown>, 'onReply' | 'fail'>

/**
 * Receives replies. A reply is only a hint that the answer is in the store: a waiter also polls the store on a timer, so a
 * lost message delays the answer, but does not lose it.
 */
export class Inbox {
  readonly #clock: Clock
  readonly #onEnd: (requestId: string) => void
  readonly #late: (deadlineMs: number) => string | null
  readonly #waiters = new Map<string, readonly Listener[]>()
  /** Number of waiters whose replies may carry the answer. */
  #answers = 0

  /**
   * @param options.onEnd called with the request of each reply that arrives
   * @param options.late the hint of a timeout; null for the usual one
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

  /** Number of current waiters. */
  get size(): number {
    return this.#waiters.size
  }

  /** Registers synchronously: call it before enqueuing, so that no reply arrives too early. */
  expect<T>(expectation: ReplyExpectation<T>): ExpectedReply<T> {
    const { requestId, deadlineMs } = expectation
    if (!(deadlineMs >= 1 && deadlineMs <= limits.waitMsMax)) {
      throw validationError('deadlineMs', `must be 1 to ${limits.waitMsMax} milliseconds`, deadlineMs)
    }
    const takesAnswer = expectation.open !== undefined && this.#answers < bounds.answersAtOnceMax
    if (takesAnswer) this.#answers++
    // From before the job is added until its answer is here, so that the way of the reply shows after the span of the job.
    const span = beginSpan('await reply', { kind: 'client', attributes: { 'heddle.request_id': requestId } })
    const onEnd = () => {
      span?.end()
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

  /** Receives a list of replies. Malformed ones, and those without a waiter, are dropped. */
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
    const waiters = this.#waiters.get(requestId) ?? []
    const others = waiters.length < 2 ? [] : waiters.filter((each) => each !== waiter)
    if (others.length === 0) this.#waiters.delete(requestId)
    else this.#waiters.set(requestId, others)
  }
}
