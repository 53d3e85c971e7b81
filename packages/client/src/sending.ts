import { HeddleError, type IngestJob } from '@heddle/contracts'
import { storedOf } from './looking.js'
import type { ClientParts } from './options.js'
import { isWorthRetrying, type Patience, pauseAfter, persist } from './retrying.js'

/** `queued`: the queue has them; `stored`: they are committed. */
export type Ack = 'queued' | 'stored'

/** A job that is to be sent, with what it takes of the queue's room. */
export interface OutgoingJob {
  readonly job: IngestJob
  readonly bytes: number
}

export interface SendOptions extends Patience {
  readonly ack: Ack
  /** False where room was asked for before. */
  readonly asksForRoom: boolean
}

/** How often a producer without an answer looks into the store: later than answers come from workers that are busy. */
const LOOK_EVERY_MS = 5_000
/**
 * A job that brought no answer for so long is sent again: it may have been lost with its queue. Each time it waits twice as
 * long: where workers are slow, not gone, copies at an even pace would fill the queue faster than they can empty it.
 */
const RESEND_AFTER_MS = 5_000
const RESEND_AFTER_MS_MAX = 60_000

/** What a sender needs of a client. */
export type SenderParts = Pick<ClientParts, 'store' | 'queues' | 'projectId' | 'log'>

/**
 * Sends a job until it is acknowledged, with the same ids each time.
 *
 * @throws ConflictError where an id is taken by another message; PermanentError where the job is refused
 * @throws RetryableError once the deadline has passed: `TIMEOUT`, or why the queue did not take the job until then
 */
export async function sendJob(
  parts: SenderParts,
  threadId: string,
  outgoing: OutgoingJob,
  options: SendOptions,
): Promise<void> {
  if (options.ack === 'stored') return await sendUntilStored(parts, threadId, outgoing, options)
  await persist(async () => {
    if (options.asksForRoom) await parts.queues.admit({ jobs: 1, bytes: outgoing.bytes })
    // Nobody waits for the reply, but what has ended does not count as under way.
    await parts.queues.add('ingest', { ...outgoing.job, replyTo: parts.queues.inbox }, outgoing.bytes)
  }, options)
}

/**
 * Sends a job, and sends it again while no answer comes: the queue may have lost it, or may be away. The ids of the
 * messages make that harmless.
 */
async function sendUntilStored(
  parts: SenderParts,
  threadId: string,
  outgoing: OutgoingJob,
  options: SendOptions,
): Promise<void> {
  const { clock, endsAtMs, signal } = options
  const { requestId, messages } = outgoing.job
  const expected = parts.queues.expectReply({
    requestId,
    deadlineMs: Math.max(1, Math.ceil(endsAtMs - clock.nowMs())),
    ...(signal !== undefined && { signal }),
    // The worker replies after the commit. Only a reply that was lost makes it worth a look into the store: many producers
    // that look while their jobs wait would take the time of the very worker that they wait for.
    whenOk: true,
    firstReadMs: LOOK_EVERY_MS,
    readEveryMs: LOOK_EVERY_MS,
    read: async () => {
      const stored = await storedOf(parts, threadId, messages)
      return messages.every(({ message }) => stored.has(message.id)) ? true : undefined
    },
  })
  const sending = new Sending(parts, outgoing, options)
  void sending.run().catch((error: unknown) => expected.fail(error))
  try {
    await expected.result
  } catch (error) {
    const isLate = error instanceof HeddleError && error.code === 'TIMEOUT'
    throw isLate ? (sending.whyUnsent ?? error) : error
  } finally {
    sending.stop()
    expected.cancel()
  }
}

/** The sending of one job, over and over, until somebody says that it is over. */
class Sending {
  readonly #parts: SenderParts
  readonly #outgoing: OutgoingJob
  readonly #options: SendOptions
  #isOver = false
  #endPause = () => {}
  /** Why the queue has not taken the job even once. */
  whyUnsent: unknown

  constructor(parts: SenderParts, outgoing: OutgoingJob, options: SendOptions) {
    this.#parts = parts
    this.#outgoing = outgoing
    this.#options = options
  }

  /** @throws where the queue refuses the job: it will not change its mind, while one that is away or full may */
  async run(): Promise<void> {
    let failures = 0
    for (let sent = 0; !this.#isOver; ) {
      let pauseMs = Math.min(RESEND_AFTER_MS * 2 ** sent, RESEND_AFTER_MS_MAX)
      try {
        await this.#send(sent > 0)
        sent++
        failures = 0
        this.whyUnsent = undefined
      } catch (error) {
        if (!isWorthRetrying(error)) throw error
        if (sent === 0) this.whyUnsent = error
        pauseMs = pauseAfter(error, failures++)
        this.#note(error)
      }
      await this.#pause(pauseMs)
    }
  }

  stop(): void {
    this.#isOver = true
    this.#endPause()
  }

  #pause(ms: number): Promise<void> {
    if (this.#isOver) return Promise.resolve()
    return new Promise((resolve) => {
      const callOff = this.#options.clock.after(ms, resolve)
      this.#endPause = () => {
        callOff()
        resolve()
      }
    })
  }

  async #send(isAgain: boolean): Promise<void> {
    const { queues } = this.#parts
    // A queue that is full holds what was sent before: it is not made fuller with copies of it.
    if (isAgain || this.#options.asksForRoom) await queues.admit({ jobs: 1, bytes: this.#outgoing.bytes })
    if (this.#isOver) return
    await queues.add('ingest', { ...this.#outgoing.job, replyTo: queues.inbox })
  }

  #note(error: unknown): void {
    const { requestId } = this.#outgoing.job
    const isBusy = error instanceof HeddleError && error.code === 'RATE_LIMITED'
    if (isBusy) this.#parts.log?.debug({ requestId }, 'the queue is full; a job waits for room')
    else this.#parts.log?.warn({ error, requestId }, 'the queue did not take a job; it will be sent again')
  }
}
