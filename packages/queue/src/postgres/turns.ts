import { randomUUID } from 'node:crypto'
import type { JobJson, PostgresConnection } from 'bullmq'
import { Batcher } from '../batcher.js'
import { bounds } from '../bounds.js'
import { isServerAway } from '../errors.js'
import { turnJobsFunction } from './functions.js'

/** A job that was taken, as BullMQ has it, with the token of its lock. */
export interface TakenJob extends JobJson {
  readonly token: string
}

/** A slot of a worker: what it is done with, and whether it wants a job. */
interface Turn {
  readonly ended: { readonly id: string; readonly token: string } | null
  readonly takes: boolean
  /** Whether more may be taken than this slot wants. */
  readonly ahead: boolean
  taken: TakenJob | undefined
  isKept: boolean
}

export interface JobTurnsOptions {
  readonly connection: PostgresConnection
  readonly queue: string
  readonly lockMs: number
  /** Jobs that the worker handles at once. */
  readonly concurrency: number
}

/** Of the jobs that a worker may handle at once, it takes this part ahead of the slots that ask for them. */
const AHEAD_PART = 1 / 16
/** A job that was taken ahead is left to its lock after this part of the lock's time: nobody renews it. */
const AHEAD_LOCK_PART = 1 / 3

/**
 * The jobs that the slots of one worker take and finish, those of one tick in one statement.
 *
 * An idle worker asks for its jobs one slot after the other; the first one takes some for those after it. What nobody asks
 * for is given back when the worker closes, or is taken up by others when its lock has run out.
 */
export class JobTurns {
  readonly #options: JobTurnsOptions
  readonly #batcher: Batcher<Turn>
  #ahead: { job: TakenJob; untilMs: number }[] = []
  #isEmpty = false
  #turns = 0
  /** Of this worker's locks. */
  readonly #name = randomUUID()
  /** When the next retry is due, in milliseconds since 1970, where nothing waited; 0 for none. */
  nextAtMs = 0

  constructor(options: JobTurnsOptions) {
    this.#options = options
    this.#batcher = new Batcher<Turn>({
      itemsMax: bounds.batchJobsMax,
      weightMax: Number.POSITIVE_INFINITY,
      flushesMax: bounds.turnsAtOnceMax,
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
    const ahead = takes ? this.#fromAhead() : undefined
    const { isKept, taken } = await this.#turn({
      ended: { id, token },
      takes: takes && ahead === undefined,
      ahead: false,
    })
    const next = ahead ?? taken
    if (isKept && next !== undefined) this.#keepAhead(next)
    return { isGone: !isKept, taken: isKept ? undefined : next }
  }

  /** Takes out what was taken ahead, to be given back. */
  leave(): TakenJob[] {
    return this.#ahead.splice(0).map(({ job }) => job)
  }

  async #turn(asked: Pick<Turn, 'ended' | 'takes' | 'ahead'>): Promise<Turn> {
    const turn: Turn = { ...asked, taken: undefined, isKept: false }
    await this.#batcher.add(turn, 1)
    return turn
  }

  async #flush(turns: readonly Turn[]): Promise<void> {
    const takers = turns.filter(({ takes }) => takes)
    try {
      const jobs = await this.#turnOver(turns, this.#amount(turns, takers.length))
      for (const turn of takers) turn.taken = jobs.shift()
      for (const job of jobs) this.#keepAhead(job)
    } catch (error) {
      if (turns.length === 1 || isServerAway(error)) throw error
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
  async #turnOver(turns: readonly Turn[], amount: number): Promise<TakenJob[]> {
    const { connection, queue, lockMs } = this.#options
    const ending = turns.flatMap((turn) => (turn.ended === null ? [] : { turn, ...turn.ended }))
    await connection.waitUntilReady()
    const { rows } = await connection.pool.query<TurnRow>(
      `SELECT * FROM ${turnJobsFunction}($1, $2::text[], $3::text[], $4, $5, $6, $7)`,
      [
        queue,
        ending.map(({ id }) => id),
        ending.map(({ token }) => token),
        amount,
        `${this.#name}-${this.#turns++}`,
        lockMs,
        Date.now(),
      ],
    )
    const taken = rows.filter((row) => row.id !== null)
    const [rest] = rows.filter((row) => row.id === null)
    const kept = new Set(rest?.kept)
    for (const { turn, id } of ending) turn.isKept = kept.has(id)
    if (amount > 0) {
      this.#isEmpty = taken.length < amount
      this.nextAtMs = Number(rest?.next_at_ms ?? 0)
    }
    return taken.sort((one, other) => Number(one.seq) - Number(other.seq)).map(toTakenJob)
  }

  #keepAhead(job: TakenJob): void {
    this.#ahead.push({ job, untilMs: performance.now() + this.#options.lockMs * AHEAD_LOCK_PART })
  }

  #fromAhead(): TakenJob | undefined {
    for (let next = this.#ahead.shift(); next !== undefined; next = this.#ahead.shift()) {
      if (performance.now() < next.untilMs) return next.job
    }
    return undefined
  }
}

/** A job, or where `id` is null, what there is to say besides. */
interface TurnRow {
  id: string | null
  kept: string[] | null
  next_at_ms: string | null
  seq: string
  token: string
  name: string
  data: string
  opts: JobJson['opts']
  added_at_ms: string
  processed_at_ms: string
  attempts_made: number
  attempts_started: number
  stalled_count: number
  dedup_id: string | null
  failed_reason: string | null
}

function toTakenJob(row: TurnRow): TakenJob {
  return {
    id: row.id ?? '',
    token: row.token,
    name: row.name,
    data: row.data,
    opts: row.opts,
    progress: 0,
    timestamp: Number(row.added_at_ms),
    processedOn: Number(row.processed_at_ms),
    attemptsMade: row.attempts_made,
    attemptsStarted: row.attempts_started,
    stalledCounter: row.stalled_count,
    failedReason: row.failed_reason ?? '',
    returnvalue: 'null',
    ...(row.dedup_id !== null && { deduplicationId: row.dedup_id }),
  }
}
