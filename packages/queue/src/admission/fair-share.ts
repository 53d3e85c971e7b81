import { RetryableError } from '@heddle/contracts'
import type { Clock } from '@heddle/runtime'
import { bounds } from '../base/bounds.js'
import {
  type AskedShare,
  type LoadCount,
  type LoadReport,
  type NewShare,
  readWord,
  type SentJob,
  type SharedStage,
} from './load-report.js'

/*
 * One project must not delay all others. Queues are first come, first served, so a project with a thousand queued jobs
 * delays everybody by a thousand jobs. While more than one project has open jobs, each may have as many as the workers
 * process at once: then nobody waits behind more than the jobs that are being processed anyway.
 *
 * Every process counts the jobs that it sent and that have no reply yet, and publishes its counts a few times a second while
 * they change. These messages may be lost, and the counts of a process that died expire after a moment: nothing has to be
 * cleaned up.
 */

export interface ProjectLoadOptions {
  /** The name of this process. */
  readonly name: string
  readonly clock: Clock
  /** Tells all processes, this one too. */
  tell(text: string): Promise<void>
  /** In all processes together. */
  workersOf(stage: SharedStage): number
}

interface UnderWay extends SentJob {
  readonly sinceMs: number
}

/** The jobs that each project has under way, in this process and in the others. */
export class FairShare {
  readonly #options: ProjectLoadOptions
  readonly #underWay = new Map<string, UnderWay>()
  readonly #own = new Map<string, LoadCount>()
  readonly #others = new Map<string, { readonly word: LoadReport; readonly atMs: number }>()
  /** When each project was last seen with jobs under way. */
  readonly #seenAtMs = new Map<string, number>()
  #cancel: (() => void) | undefined
  #isClosed = false

  constructor(options: ProjectLoadOptions) {
    this.#options = options
  }

  /**
   * Takes room for a caller who waits, from the first thing that is done for it.
   *
   * @returns gives it back
   * @throws RetryableError `RATE_LIMITED` where the project has its share under way; who has nothing under way may always come
   */
  take({ stage, projectId, bytes }: NewShare): () => void {
    this.check({ stage, projectId, bytes })
    this.#add(stage, projectId, bytes)
    let isHeld = true
    return () => {
      if (isHeld) this.#count(stage, projectId, -1, -bytes)
      isHeld = false
    }
  }

  /**
   * Looks whether there is room, and takes none.
   *
   * @throws RetryableError as {@link take}
   */
  check({ stage, projectId, bytes: more, letIn }: AskedShare): void {
    if (!this.#hasNeighbours(projectId)) return
    const limits = this.#limitsOf(stage)
    const { jobs, bytes } = this.#total(stage, projectId, letIn)
    if (jobs === 0 || (jobs < limits.jobsMax && bytes + more <= limits.bytesMax)) return
    throw new RetryableError('RATE_LIMITED', `the project has as many jobs of ${stage} under way as is its share`, {
      retryAfter: bounds.busyRetryAfterSeconds,
      hint: 'Send more slowly, or run more workers: each adds to the share. Nothing of this was begun.',
      facts: { jobsUnderWay: jobs, bytesUnderWay: bytes, ...limits },
    })
  }

  /** A job for which nobody waits is on its way to the queue. */
  began({ id, stage, projectId, bytes }: SentJob): void {
    // Sent again: it is the same work.
    if (this.#underWay.has(id)) return
    this.#underWay.set(id, { id, stage, projectId, bytes, sinceMs: this.#options.clock.monotonicMs() })
    this.#add(stage, projectId, bytes)
  }

  /** Its reply has come, or it did not get to the queue. */
  ended(id: string): void {
    const job = this.#underWay.get(id)
    if (job === undefined) return
    this.#underWay.delete(id)
    this.#count(job.stage, job.projectId, -1, -job.bytes)
  }

  /** Takes the word of a process. */
  receive(text: string): void {
    const word = readWord(text)
    if (word === null || word.from === this.#options.name) return
    const atMs = this.#options.clock.monotonicMs()
    this.#others.set(word.from, { word, atMs })
    for (const { projectId } of word.counts) this.#seenAtMs.set(projectId, atMs)
  }

  close(): void {
    this.#isClosed = true
    this.#cancel?.()
  }

  #add(stage: SharedStage, projectId: string, bytes: number): void {
    this.#count(stage, projectId, 1, bytes)
    this.#seenAtMs.set(projectId, this.#options.clock.monotonicMs())
    this.#schedule()
  }

  #count(stage: SharedStage, projectId: string, jobs: number, bytes: number): void {
    const key = keyOf(stage, projectId)
    const held = this.#own.get(key) ?? { stage, projectId, jobs: 0, bytes: 0 }
    const count = { ...held, jobs: held.jobs + jobs, bytes: held.bytes + bytes }
    if (count.jobs === 0) this.#own.delete(key)
    else this.#own.set(key, count)
  }

  /**
   * @param letIn requests of this process that the gateway has admitted. Each becomes a job of `#own` while its request is open, so
   *   the two overlap: the larger count is used, not the sum
   */
  #total(stage: SharedStage, projectId: string, letIn = { jobs: 0, bytes: 0 }): { jobs: number; bytes: number } {
    const own = this.#own.get(keyOf(stage, projectId)) ?? { jobs: 0, bytes: 0 }
    const total = { jobs: Math.max(own.jobs, letIn.jobs), bytes: Math.max(own.bytes, letIn.bytes) }
    const add = (count: { jobs: number; bytes: number } | undefined) => {
      total.jobs += count?.jobs ?? 0
      total.bytes += count?.bytes ?? 0
    }
    for (const { counts } of this.#words()) {
      add(counts.find((count) => count.stage === stage && count.projectId === projectId))
    }
    return total
  }

  #limitsOf(stage: SharedStage): { jobsMax: number; bytesMax: number } {
    const workers = Math.max(1, this.#options.workersOf(stage))
    const { jobs, bytes } = bounds.shareOfWorker[stage]
    return { jobsMax: jobs * workers, bytesMax: bytes * workers }
  }

  #hasNeighbours(projectId: string): boolean {
    const sinceMs = this.#options.clock.monotonicMs() - bounds.neighbourMs
    for (const [other, atMs] of this.#seenAtMs) if (other !== projectId && atMs >= sinceMs) return true
    return false
  }

  *#words(): Generator<LoadReport> {
    const sinceMs = this.#options.clock.monotonicMs() - bounds.loadKnownMs
    for (const { word, atMs } of this.#others.values()) if (atMs >= sinceMs) yield word
  }

  #schedule(): void {
    if (this.#isClosed || this.#cancel !== undefined) return
    this.#cancel = this.#options.clock.after(bounds.loadToldEveryMs, () => this.#tick())
  }

  #tick(): void {
    this.#cancel = undefined
    this.#forget()
    const counts = [...this.#own.values()].sort((one, other) => other.jobs - one.jobs).slice(0, bounds.loadCountsMax)
    const word: LoadReport = { from: this.#options.name, counts }
    // A word that is lost is said again; what is wrong with the server is told by all else that needs it.
    void this.#options.tell(JSON.stringify(word)).catch(() => {})
    if (this.#own.size > 0) this.#schedule()
  }

  /** What no word came of for so long: its reply was lost, or its process is gone. */
  #forget(): void {
    const nowMs = this.#options.clock.monotonicMs()
    for (const [id, { sinceMs }] of this.#underWay) if (nowMs - sinceMs > bounds.underWayMsMax) this.ended(id)
    for (const { projectId } of this.#own.values()) this.#seenAtMs.set(projectId, nowMs)
    for (const [name, { atMs }] of this.#others) if (nowMs - atMs > bounds.loadKnownMs) this.#others.delete(name)
    for (const [id, atMs] of this.#seenAtMs) if (nowMs - atMs > bounds.neighbourMs) this.#seenAtMs.delete(id)
  }
}

function keyOf(stage: SharedStage, projectId: string): string {
  return `${stage} ${projectId}`
}
