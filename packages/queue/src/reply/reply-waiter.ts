import { type ErrorData, errorFromData, HeddleError, type Reply, RetryableError } from '@heddle/contracts'
import type { Clock } from '@heddle/runtime'

export interface ReplyExpectation<T> {
  /** The id in the worker's reply. */
  requestId: string
  /** Time limit from now, in milliseconds: 1 to `limits.waitMsMax`. */
  deadlineMs: number
  signal?: AbortSignal
  /** Reads the answer from the store; undefined means "not yet". */
  read(): Promise<T | undefined>
  /** How often to read without a reply, in milliseconds; default 1,000. */
  readEveryMs?: number
  /** When to read for the first time without a reply, in milliseconds; default 250. */
  firstReadMs?: number
  /** The result of a successful reply whose job has no answer; by default the answer is read. */
  whenOk?: T
  /**
   * Parses the answer in the reply, which is untrusted: bytes, or a JSON value. Returns undefined if the answer must be read
   * from the store. By default replies carry no answer.
   */
  open?(answer: unknown): Promise<T | undefined>
}

export interface ExpectedReply<T> {
  /**
   * Always settles by the deadline.
   *
   * @throws the error in the worker's reply; RetryableError `TIMEOUT`; the signal's reason
   */
  readonly result: Promise<T>
  /** Whether the reply may carry the answer: false while too many other replies may. */
  readonly takesAnswer: boolean
  /** Ends the wait with an error; for a caller whose job could not be enqueued. */
  fail(error: unknown): void
  /** Stops waiting. */
  cancel(): void
}

const READ_EVERY_MS = 1_000
/** The first read comes sooner than the later ones: most lost messages are lost at the start. */
const FIRST_READ_MS = 250
/** The pause after a reply whose row is not visible yet. */
const READ_AGAIN_MS = 20

/** A caller's wait for one reply. */
export class Waiter<T> implements ExpectedReply<T> {
  readonly result: Promise<T>
  readonly takesAnswer: boolean
  readonly #expectation: ReplyExpectation<T>
  readonly #clock: Clock
  readonly #onEnd: () => void
  readonly #late: (deadlineMs: number) => string | null
  #onAbort: (() => void) | undefined
  /** Cancels the timer of the next read, or of the deadline if that comes first. */
  #cancelTimer: (() => void) | undefined
  #endsAtMs = 0
  #isOver = false
  #reading = false
  #readAgain = false
  #isReplied = false
  #lastError: unknown
  #resolve!: (value: T) => void
  #reject!: (error: unknown) => void

  constructor(
    expectation: ReplyExpectation<T>,
    {
      clock,
      takesAnswer,
      onEnd,
      late,
    }: { clock: Clock; takesAnswer: boolean; onEnd: () => void; late: (deadlineMs: number) => string | null },
  ) {
    this.takesAnswer = takesAnswer
    this.#expectation = expectation
    this.#clock = clock
    this.#onEnd = onEnd
    this.#late = late
    this.result = new Promise<T>((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
  }

  start(): void {
    const { deadlineMs, signal, readEveryMs = READ_EVERY_MS, firstReadMs = FIRST_READ_MS } = this.#expectation
    if (signal?.aborted) {
      this.fail(signal.reason)
      return
    }
    if (signal !== undefined) {
      this.#onAbort = () => this.fail(signal.reason)
      signal.addEventListener('abort', this.#onAbort, { once: true })
    }
    this.#endsAtMs = this.#clock.monotonicMs() + deadlineMs
    this.#schedule(Math.min(firstReadMs, readEveryMs))
  }

  onReply(reply: Reply): void {
    if (this.#isOver) return
    if (reply.ok) {
      const { whenOk } = this.#expectation
      if (whenOk !== undefined && this.#finish()) {
        this.#resolve(whenOk)
        return
      }
      this.#isReplied = true
      if (reply.answer === undefined) void this.#readNow()
      else void this.#open(reply.answer)
    } else {
      const error = (reply.error as ErrorData | undefined) ?? {
        code: 'INTERNAL',
        detail: 'The job failed without an error message',
      }
      this.fail(errorFromData(error))
    }
  }

  cancel(): void {
    if (!this.#isOver) this.fail(new RetryableError('INTERNAL', 'The wait for a reply was cancelled'))
  }

  fail(error: unknown): void {
    if (!this.#finish()) return
    // The caller may have failed before it awaits the result.
    this.result.catch(() => {})
    this.#reject(error)
  }

  #timeOut(): void {
    const { requestId, deadlineMs } = this.#expectation
    this.fail(
      new RetryableError('TIMEOUT', `No answer within ${deadlineMs} ms`, {
        hint:
          this.#late(deadlineMs) ?? 'The request is still being processed; try again later, or check `heddle queues`.',
        facts: { requestId },
        ...(this.#lastError !== undefined && { cause: this.#lastError }),
      }),
    )
  }

  /** @param ms until the next read; null while one runs, which may take longer than the deadline */
  #schedule(ms: number | null): void {
    this.#cancelTimer?.()
    const leftMs = Math.max(0, this.#endsAtMs - this.#clock.monotonicMs())
    this.#cancelTimer =
      ms === null || leftMs <= ms
        ? this.#clock.after(leftMs, () => this.#timeOut())
        : this.#clock.after(ms, () => void this.#readNow())
  }

  async #open(answer: unknown): Promise<void> {
    const given = typeof answer === 'string' ? Buffer.from(answer, 'base64') : answer
    // A malformed answer is ignored: the store has it, too.
    const value = await this.#expectation.open?.(given).catch(() => undefined)
    if (value === undefined) return await this.#readNow()
    if (this.#finish()) this.#resolve(value)
  }

  async #readNow(): Promise<void> {
    if (this.#isOver) return
    if (this.#reading) {
      // The current read may have begun before the row of this reply was visible.
      this.#readAgain = true
      return
    }
    this.#reading = true
    this.#schedule(null)
    const value = await this.#read()
    this.#reading = false
    if (value !== undefined && this.#finish()) return this.#resolve(value)
    if (this.#isOver) return
    const again = this.#readAgain
    this.#readAgain = false
    if (again) return this.#readNow()
    this.#schedule(this.#nextReadMs())
  }

  async #read(): Promise<T | undefined> {
    try {
      return await this.#expectation.read()
    } catch (error) {
      // Temporary errors of the store are retried; permanent ones end the wait.
      if (error instanceof HeddleError && error.disposition !== 'retry') this.fail(error)
      else this.#lastError = error
      return undefined
    }
  }

  #nextReadMs(): number {
    const readEveryMs = this.#expectation.readEveryMs ?? READ_EVERY_MS
    if (!this.#isReplied) return readEveryMs
    this.#isReplied = false
    return Math.min(READ_AGAIN_MS, readEveryMs)
  }

  /** @returns false if it had ended before */
  #finish(): boolean {
    if (this.#isOver) return false
    this.#isOver = true
    this.#cancelTimer?.()
    if (this.#onAbort !== undefined) this.#expectation.signal?.removeEventListener('abort', this.#onAbort)
    this.#onEnd()
    return true
  }
}
