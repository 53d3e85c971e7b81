import { randomUUID } from 'node:crypto'
import { Gatherer } from '@heddle/runtime'
import type { JobJson } from 'bullmq'
import { bounds } from '../base/bounds.js'
import { isServerAway } from '../base/errors.js'

/** A job that was taken, as BullMQ has it, with the token of its lock. */
export interface TakenJob extends JobJson {
  readonly token: string
}

/** What BullMQ's worker is told of a job that it asked for: the job, its id, and two waits, of which the second is used. */
export type Next = [TakenJob, string, 0, 0] | [null, '', 0, number]

/** A slot of a worker: what it is done with, and whether it wants a job. */
interface Turn {
  readonly ended: { readonly id: string; readonly token: string } | null
  readonly takes: boolean
  /** Whether more may be taken than this slot wants. */
  readonly ahead: boolean
  taken: TakenJob | undefined
  isKept: boolean
}

/** What one round trip is to do. */
export interface JobExchange {
  /** Jobs that are done with, each with the token of its lock. */
  readonly ended: readonly { readonly id: string; readonly token: string }[]
  /** How many jobs to take. */
  readonly takes: number
  /** Of the locks of those that are taken: each adds something of its own. */
  readonly token: string
  readonly lockMs: number
}

export interface ExchangedJobs {
  /** Jobs that are not gone, since their locks were lost or there is more to do than to remove them: for BullMQ to judge. */
  readonly kept: readonly string[]
  /** In the order of the queue. */
  readonly taken: TakenJob[]
  /** When the next retry is due, in milliseconds since 1970, where fewer waited than were to be taken; 0 for none. */
  readonly nextAtMs: number
}

export interface JobBatchesOptions {
  /** One round trip to the server, which does all of it or nothing. */
  exchangeJobs(order: JobExchange): Promise<ExchangedJobs>
  /** Has a job wait again that nobody has begun with. */
  release(job: TakenJob): Promise<unknown>
  readonly lockMs: number
  /** Jobs that the worker handles at once. */
  readonly concurrency: number
}

/** Of the jobs that a worker may handle at once, it takes this part ahead of the slots that ask for them. */
const AHEAD_PART = 1 / 16
/** A job that was taken ahead is left to its lock after this part of the lock's time: nobody renews it. */
const AHEAD_LOCK_PART = 1 / 3

/**
 * The jobs that the slots of one worker take and finish, those of one tick in one round trip.
 *
 * An idle worker asks for its jobs one slot after the other; the first one takes some for those after it. What nobody asks
 * for is given back when the worker closes, or is taken up by others when its lock has run out.
 */
export class JobBatches {
  readonly #options: JobBatchesOptions
  readonly #batches: Gatherer<Turn>
  #ahead: { job: TakenJob; untilMs: number }[] = []
  /** Of those taken ahead, how many slots that finish a job are to have. */
  #countedOn = 0
  #isEmpty = false
  #turns = 0
  /** Of this worker's locks. */
  readonly #name = randomUUID()
  /** When the next retry is due, in milliseconds since 1970, where nothing waited; 0 for none. */
  nextAtMs = 0

  constructor(options: JobBatchesOptions) {
    this.#options = options
    this.#batches = new Gatherer<Turn>({
      itemsMax: bounds.batchJobsMax,
      batchesMax: bounds.turnsAtOnceMax,
      flush: (turns) => this.#flush(turns),
    })
  }

  /** @returns undefined where none waits */
  async take(): Promise<TakenJob | undefined> {
    const ahead = this.#fromAhead()
    if (ahead !== undefined) return ahead
    // The server has just said that nothing is left.
    if (this.#isEmpty) {
      this.#isEmpty = false
      return undefined
    }
    return (await this.#turn({ ended: null, takes: true, ahead: true })).taken
  }

  /** @returns whether the job is gone; if not, it is for BullMQ to say why */
  async finish(id: string, token: string, takes: boolean): Promise<{ isGone: boolean; taken: TakenJob | undefined }> {
    // Counted on now and taken out afterwards: where the round trip fails, it must not be gone.
    const isAtHand = takes && this.#ahead.length > this.#countedOn
    if (isAtHand) this.#countedOn++
    const { isKept, taken } = await this.#turn({
      ended: { id, token },
      takes: takes && !isAtHand,
      ahead: false,
    }).finally(() => {
      if (isAtHand) this.#countedOn--
    })
    if (isKept && taken !== undefined) this.#keepAhead(taken)
    if (isKept || !takes) return { isGone: !isKept, taken: undefined }
    return { isGone: true, taken: taken ?? this.#fromAhead() }
  }

  /**
   * Waits for the server's word, after which that nothing was left holds no more. Who has jobs at hand need not wait.
   *
   * @returns what BullMQ's worker takes for the sign that there is a job, or what the server said
   */
  async wait<Word>(forServer: () => Promise<Word>): Promise<Word | { member: '0'; score: 0 }> {
    if (this.#ahead.length > 0) return { member: '0', score: 0 }
    try {
      return await forServer()
    } finally {
      this.#isEmpty = false
    }
  }

  next(taken: TakenJob | undefined): Next {
    return taken === undefined ? [null, '', 0, this.nextAtMs] : [taken, taken.id, 0, 0]
  }

  /** Gives back what was taken ahead. */
  async leave(): Promise<void> {
    await Promise.allSettled(this.#ahead.splice(0).map(({ job }) => this.#options.release(job)))
  }

  async #turn(asked: Pick<Turn, 'ended' | 'takes' | 'ahead'>): Promise<Turn> {
    const turn: Turn = { ...asked, taken: undefined, isKept: false }
    await this.#batches.add(turn)
    return turn
  }

  async #flush(turns: readonly Turn[]): Promise<void> {
    const takers = turns.filter(({ takes }) => takes)
    try {
      const jobs = await this.#exchangeJobs(turns, this.#amount(turns, takers.length))
      for (const turn of takers) turn.taken = jobs.shift()
      for (const job of jobs) this.#keepAhead(job)
    } catch (error) {
      if (isServerAway(error) || turns.every(({ ended }) => ended === null)) throw error
      // One that fails must not take the others along: BullMQ does with each of them what is right.
      for (const turn of turns) turn.isKept = turn.ended !== null
    }
  }

  /** @returns how many jobs to ask for */
  #amount(turns: readonly Turn[], takers: number): number {
    const ahead = turns.some((turn) => turn.ahead) ? Math.floor(this.#options.concurrency * AHEAD_PART) : 0
    return Math.max(takers, ahead)
  }

  /** @returns the jobs that were taken, in the order of the queue */
  async #exchangeJobs(turns: readonly Turn[], takes: number): Promise<TakenJob[]> {
    const { exchangeJobs, lockMs } = this.#options
    const ending = turns.flatMap((turn) => (turn.ended === null ? [] : { turn, ...turn.ended }))
    const token = `${this.#name}-${this.#turns++}`
    const { kept, taken, nextAtMs } = await exchangeJobs({ ended: ending, takes, token, lockMs })
    const isKept = new Set(kept)
    for (const { turn, id } of ending) turn.isKept = isKept.has(id)
    // Those that finish a job come and go beside the one that asks; where it is given none, it waits by itself.
    if (turns.some(({ ahead }) => ahead)) this.#isEmpty = taken.length > 0 && taken.length < takes
    // Who gives as many as were asked for has not looked for retries.
    if (taken.length < takes) this.nextAtMs = nextAtMs
    return taken
  }

  #keepAhead(job: TakenJob): void {
    this.#ahead.push({ job, untilMs: performance.now() + this.#options.lockMs * AHEAD_LOCK_PART })
  }

  #fromAhead(): TakenJob | undefined {
    for (let next = this.#ahead.shift(); next !== undefined; next = this.#ahead.shift()) {
      if (performance.now() < next.untilMs) return next.job
      // Others can have it at once. Where that fails, its lock runs out.
      void this.#options.release(next.job).catch(() => {})
    }
    return undefined
  }
}
