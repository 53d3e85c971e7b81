import { type ErrorData, errorFromData, HeddleError, type Reply, RetryableError } from '@heddle/contracts'
import type { Clock } from '@heddle/runtime'

export interface ReplyExpectation<T> {
  /** The id under which the job's worker will reply. */
  requestId: string
  /** How long to wait from now, in milliseconds: 1 to `limits.waitMsMax`. */
  deadlineMs: number
  signal?: AbortSignal
  /** Looks the answer up in the store; undefined means "not yet". */
  read(): Promise<T | undefined>
  /** How often to look without having been told, in milliseconds; default 1,000. */
  readEveryMs?: number
  /** When to look for the first time without having been told, in milliseconds; default 250. */
  firstReadMs?: number
  /** The answer where the worker's word that all went well is all there is to know; by default it is looked up. */
  whenOk?: T
  /**
   * Reads the answer that came with the reply, which may be anything: bytes, or what its JSON says; undefined for one that
   * is to be looked up nevertheless. By default none is expected.
   */
  open?(answer: unknown): Promise<T | undefined>
}

export interface ExpectedReply<T> {
  /**
   * Settles by the deadline, whatever happens.
   *
   * @throws the error that the worker replied with; RetryableError `TIMEOUT`; the signal's reason
   */
  readonly result: Promise<T>
  /** Whether the reply may bring the answer along: false while too many others are to bring theirs. */
  readonly takesAnswer: boolean
  /** Ends the wait with an error; for a caller whose job could not be enqueued. */
  fail(error: unknown): void
  /** Stops waiting. */
  cancel(): void
}

const READ_EVERY_MS = 1_000
/** The first look without a message comes sooner: a message that is lost is mostly lost at the start. */
const FIRST_READ_MS = 250
/** After a message whose row is not visible yet. */
const READ_AGAIN_MS = 20

/** One caller who waits for one reply; settles once, whatever comes first. */
export class Waiter<T> implements ExpectedReply<T> {
  readonly result: Promise<T>
  readonly takesAnswer: boolean
  readonly #expectation: ReplyExpectation<T>
  readonly #clock: Clock
  readonly #onEnd: () => void
  readonly #late: (deadlineMs: number) => string | null
  #onAbort: (() => void) | undefined
  #callOffDeadline: (() => void) | undefined
  #callOffLook: (() => void) | undefined
  #isOver = false
  #reading = false
  #readAgain = false
  #told = false
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
    // The caller may fail before it looks at the result.
    this.result.catch(() => {})
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
    this.#callOffDeadline = this.#clock.after(deadlineMs, () => this.#timeOut())
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
      this.#told = true
      if (reply.answer === undefined) void this.#look()
      else void this.#open(reply.answer)
    } else {
      const error = (reply.error as ErrorData | undefined) ?? {
        code: 'INTERNAL',
        detail: 'The job failed without saying why',
      }
      this.fail(errorFromData(error))
    }
  }

  cancel(): void {
    if (!this.#isOver) this.fail(new RetryableError('INTERNAL', 'The wait for a reply was cancelled'))
  }

  fail(error: unknown): void {
    if (!this.#finish()) return
    this.#reject(error)
  }

  #timeOut(): void {
    const { requestId, deadlineMs } = this.#expectation
    this.fail(
      new RetryableError('TIMEOUT', `No answer within ${deadlineMs} ms`, {
        hint: this.#late(deadlineMs) ?? 'The request is still worked on; ask again later, or check `heddle queues`.',
        facts: { requestId },
        ...(this.#lastError !== undefined && { cause: this.#lastError }),
      }),
    )
  }

  #schedule(ms: number): void {
    this.#callOffLook?.()
    this.#callOffLook = this.#clock.after(ms, () => void this.#look())
  }

  async #open(answer: unknown): Promise<void> {
    const given = typeof answer === 'string' ? Buffer.from(answer, 'base64') : answer
    // Whatever is wrong with it, the store has the answer, too.
    const value = await this.#expectation.open?.(given).catch(() => undefined)
    if (value === undefined) return await this.#look()
    if (this.#finish()) this.#resolve(value)
  }

  async #look(): Promise<void> {
    if (this.#isOver) return
    if (this.#reading) {
      // What is being read may be older than the message that asks for another look.
      this.#readAgain = true
      return
    }
    this.#reading = true
    const value = await this.#read()
    this.#reading = false
    if (value !== undefined && this.#finish()) return this.#resolve(value)
    if (this.#isOver) return
    const again = this.#readAgain
    this.#readAgain = false
    if (again) return this.#look()
    this.#schedule(this.#nextReadMs())
  }

  async #read(): Promise<T | undefined> {
    try {
      return await this.#expectation.read()
    } catch (error) {
      // A store that is away for a moment is no answer; one that refuses is.
      if (error instanceof HeddleError && error.disposition !== 'retry') this.fail(error)
      else this.#lastError = error
      return undefined
    }
  }

  #nextReadMs(): number {
    const readEveryMs = this.#expectation.readEveryMs ?? READ_EVERY_MS
    if (!this.#told) return readEveryMs
    this.#told = false
    return Math.min(READ_AGAIN_MS, readEveryMs)
  }

  /** @returns false if it was over before */
  #finish(): boolean {
    if (this.#isOver) return false
    this.#isOver = true
    this.#callOffDeadline?.()
    this.#callOffLook?.()
    if (this.#onAbort !== undefined) this.#expectation.signal?.removeEventListener('abort', this.#onAbort)
    this.#onEnd()
    return true
  }
}
