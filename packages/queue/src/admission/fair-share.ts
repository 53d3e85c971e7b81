import { RetryableError } from '@heddle/contracts'
import type { Clock } from '@heddle/runtime'
import { bounds } from '../base/bounds.js'
import {
  type LoadCount,
  type LoadReport,
  type NewShare,
  parseLoadReport,
  type SentJob,
  type SharedStage,
  type ShareRequest,
} from './load-report.js'

/*
 * One project must not delay all others. Queues are first come, first served, so a project with a thousand queued jobs
 * delays everybody by a thousand jobs. While more than one project has open jobs, each may have fewer than the workers
 * process at once: then they have capacity for the jobs of the others.
 *
 * Every process counts the jobs that it sent and that have no reply yet, and publishes its counts a few times a second while
 * they change. These messages may be lost, and the counts of a process that died expire after a moment: nothing has to be
 * cleaned up.
 */

export interface FairShareOptions {
  /** The name of this process. */
  readonly name: string
  readonly clock: Clock
  /** Publishes to all processes, including this one. */
  publish(text: string): Promise<void>
  /** Workers of a stage in all processes together. */
  workersOf(stage: SharedStage): number
}

interface UnderWay extends SentJob {
  readonly sinceMs: number
}

/** Counted in place: each job changes it twice. */
type OwnCount = { -readonly [Field in keyof LoadCount]: LoadCount[Field] }

/** Limits the open jobs of a project in a stage, over all processes, while other projects have open jobs, too. */
export class FairShare {
  readonly #options: FairShareOptions
  readonly #underWay = new Map<string, UnderWay>()
  readonly #own = new Map<string, OwnCount>()
  readonly #others = new Map<string, { readonly report: LoadReport; readonly atMs: number }>()
  /** When each project last had open jobs. */
  readonly #seenAtMs = new Map<string, number>()
  #cancel: (() => void) | undefined
  #isClosed = false

  constructor(options: FairShareOptions) {
    this.#options = options
  }

  /**
   * Acquires a place in the project's share; a project without open jobs always gets one.
   *
   * @returns a function that releases the place
   * @throws RetryableError `RATE_LIMITED` if the open jobs of the project have reached its share
   */
  acquire({ stage, projectId, bytes }: NewShare): () => void {
    this.check({ stage, projectId, bytes })
    this.#add(stage, projectId, bytes)
    let isHeld = true
    return () => {
      if (isHeld) this.#count(stage, projectId, -1, -bytes)
      isHeld = false
    }
  }

  /**
   * Checks for a free place without acquiring it.
   *
   * @throws RetryableError as {@link acquire}
   */
  check({ stage, projectId, bytes: more, admitted }: ShareRequest): void {
    if (!this.#hasNeighbours(projectId)) return
    const limits = this.#limitsOf(stage)
    const { jobs, bytes } = this.#total(stage, projectId, admitted)
    if (jobs === 0 || (jobs < limits.jobsMax && bytes + more <= limits.bytesMax)) return
    throw new RetryableError('RATE_LIMITED', `the open ${stage} jobs of the project have reached its share`, {
      retryAfter: bounds.busyRetryAfterSeconds,
      hint: 'Send more slowly, or run more workers: each adds to the share. Nothing of this request was processed.',
      facts: { jobsUnderWay: jobs, bytesUnderWay: bytes, ...limits },
    })
  }

  /** Counts a job that is sent without an acquired place, because its caller does not wait. */
  started({ id, stage, projectId, bytes }: SentJob): void {
    // A repeated send is the same job.
    if (this.#underWay.has(id)) return
    this.#underWay.set(id, { id, stage, projectId, bytes, sinceMs: this.#options.clock.monotonicMs() })
    this.#add(stage, projectId, bytes)
  }

  /** The reply of a job has arrived, or the job could not be added. */
  ended(id: string): void {
    const job = this.#underWay.get(id)
    if (job === undefined) return
    this.#underWay.delete(id)
    this.#count(job.stage, job.projectId, -1, -job.bytes)
  }

  /** Receives the load report of a process. */
  receive(text: string): void {
    const report = parseLoadReport(text)
    if (report === null || report.from === this.#options.name) return
    const atMs = this.#options.clock.monotonicMs()
    this.#others.set(report.from, { report, atMs })
    for (const { projectId } of report.counts) this.#seenAtMs.set(projectId, atMs)
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
    const count = this.#own.get(key) ?? { stage, projectId, jobs: 0, bytes: 0 }
    count.jobs += jobs
    count.bytes += bytes
    if (count.jobs === 0) this.#own.delete(key)
    else this.#own.set(key, count)
  }

  /**
   * @param admitted requests of this process that the gateway has admitted. Each becomes a job of `#own` while its request is open, so
   *   the two overlap: the larger count is used, not the sum
   */
  #total(stage: SharedStage, projectId: string, admitted = { jobs: 0, bytes: 0 }): { jobs: number; bytes: number } {
    const own = this.#own.get(keyOf(stage, projectId)) ?? { jobs: 0, bytes: 0 }
    const total = { jobs: Math.max(own.jobs, admitted.jobs), bytes: Math.max(own.bytes, admitted.bytes) }
    const add = (count: { jobs: number; bytes: number } | undefined) => {
      total.jobs += count?.jobs ?? 0
      total.bytes += count?.bytes ?? 0
    }
    for (const { counts } of this.#recentReports()) {
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

  *#recentReports(): Generator<LoadReport> {
    const sinceMs = this.#options.clock.monotonicMs() - bounds.loadKnownMs
    for (const { report, atMs } of this.#others.values()) if (atMs >= sinceMs) yield report
  }

  #schedule(): void {
    if (this.#isClosed || this.#cancel !== undefined) return
    this.#cancel = this.#options.clock.after(bounds.loadReportEveryMs, () => this.#tick())
  }

  #tick(): void {
    this.#cancel = undefined
    this.#expire()
    const counts = [...this.#own.values()].sort((one, other) => other.jobs - one.jobs).slice(0, bounds.loadCountsMax)
    const report: LoadReport = { from: this.#options.name, counts }
    // The next tick replaces a lost report, and every other call reports a server that is down.
    void this.#options.publish(JSON.stringify(report)).catch(() => {})
    if (this.#own.size > 0) this.#schedule()
  }

  /** Expires jobs whose reply was lost, and reports of processes that are gone. */
  #expire(): void {
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
