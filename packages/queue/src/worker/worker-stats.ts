import {
  type ModelCalls,
  type PoolWork,
  type StageName,
  type StatsReport,
  type SummaryCall,
  stageNames,
  statsReportSchema,
} from '@heddle/contracts'
import type { Clock } from '@heddle/runtime'
import { LRUCache } from 'lru-cache'
import { bounds } from '../base/bounds.js'

/*
 * Counts the work of a stage's workers in all processes. The counts are not stored: each process counts its own and reports
 * them to the others, once a second while it has workers, and on request. The workers of a process that stops reporting are
 * no longer counted; its finished jobs are.
 */

export interface PoolsOptions {
  /** The name of this process. */
  readonly name: string
  readonly clock: Clock
  /** Publishes to all processes, including this one. */
  publish(text: string): Promise<void>
}

/** The outcome and duration of one attempt of a job. */
interface Attempt {
  readonly stage: StageName
  readonly result: string
  readonly durationMs: number
}

/** The work of this process in a stage, counted in place: each job changes it. */
type Counts = { -readonly [Field in keyof PoolWork]: PoolWork[Field] }

interface ReceivedReport {
  readonly stages: Readonly<Partial<Record<StageName, PoolWork>>>
  readonly atMs: number
}

export class Pools {
  readonly #options: PoolsOptions
  readonly #own = new Map<StageName, Counts>()
  readonly #models = new Map<string, ModelCalls>()
  readonly #others = new LRUCache<string, ReceivedReport>({ max: bounds.poolProcessesMax })
  /** Finished jobs of this process at its last ticks, oldest first. */
  #past: { readonly atMs: number; readonly done: ReadonlyMap<StageName, number> }[] = []
  #cancel: (() => void) | undefined
  #isClosed = false

  constructor(options: PoolsOptions) {
    this.#options = options
  }

  started(stage: StageName): void {
    this.#countsOf(stage).workers++
    this.#cancel ??= this.#options.clock.after(0, () => this.#tick())
  }

  stopped(stage: StageName): void {
    this.#countsOf(stage).workers--
    // The other processes learn of it before the last report expires.
    this.#report()
  }

  settled({ stage, result, durationMs }: Attempt): void {
    const work = this.#countsOf(stage)
    if (result === 'done' || result === 'skipped') work.done++
    if (result === 'retried' || result === 'dead') work.failed++
    work.tookMs += durationMs
  }

  /** Receives a report, or a request for reports. */
  receive(text: string): void {
    const report = parseReport(text)
    if (report === null || report.from === this.#options.name) return
    if (report.asks) {
      this.#report()
      return
    }
    const { from, stages } = report
    this.#others.set(from, { stages, atMs: this.#options.clock.monotonicMs() })
  }

  /** Requests a report at once from all processes with workers. */
  async requestReports(): Promise<void> {
    await this.#options.publish(JSON.stringify({ from: this.#options.name, asks: true }))
  }

  called({ provider, model, outcome, inputTokens, outputTokens }: SummaryCall): void {
    const name = `${provider} ${model}`.slice(0, bounds.poolModelCharactersMax)
    const { calls, failed, ...tokens } = this.#models.get(name) ?? uncalled
    if (calls === 0 && this.#models.size >= bounds.poolModelsMax) return
    this.#models.set(name, {
      calls: calls + 1,
      failed: failed + (outcome === 'failed' ? 1 : 0),
      inputTokens: tokens.inputTokens + (inputTokens ?? 0),
      outputTokens: tokens.outputTokens + (outputTokens ?? 0),
    })
  }

  /** Calls of this process to each model. */
  get ownCalls(): ReadonlyMap<string, ModelCalls> {
    return this.#models
  }

  workersOf(stage: StageName): number {
    return this.workOf(stage).workers
  }

  /** The work of a stage in all processes with reports. */
  workOf(stage: StageName): PoolWork {
    const sinceMs = this.#options.clock.monotonicMs() - bounds.loadKnownMs
    const total = { ...(this.#ownWork().get(stage) ?? idle) }
    for (const { stages, atMs } of this.#others.values()) {
      const work = stages[stage]
      if (work === undefined) continue
      total.done += work.done
      total.failed += work.failed
      total.tookMs += work.tookMs
      if (atMs < sinceMs) continue
      total.workers += work.workers
      total.perSecond += work.perSecond
    }
    return total
  }

  close(): void {
    this.#isClosed = true
    this.#cancel?.()
  }

  #countsOf(stage: StageName): Counts {
    const counts = this.#own.get(stage) ?? { ...idle }
    this.#own.set(stage, counts)
    return counts
  }

  #tick(): void {
    const nowMs = this.#options.clock.monotonicMs()
    const done = new Map([...this.#own].map(([stage, work]) => [stage, work.done]))
    this.#past = [...this.#past.filter(({ atMs }) => atMs >= nowMs - bounds.poolRateMs), { atMs: nowMs, done }]
    this.#report()
    const hasWorkers = [...this.#own.values()].some(({ workers }) => workers > 0)
    this.#cancel =
      hasWorkers && !this.#isClosed
        ? this.#options.clock.after(bounds.poolReportEveryMs, () => this.#tick())
        : undefined
  }

  #report(): void {
    if (this.#own.size === 0) return
    const report = { from: this.#options.name, stages: Object.fromEntries(this.#ownWork()) }
    // The next tick replaces a lost report, and every other call reports a server that is down.
    void this.#options.publish(JSON.stringify(report)).catch(() => {})
  }

  /** The work of this process, with its rate over the last seconds. */
  #ownWork(): ReadonlyMap<StageName, PoolWork> {
    const [first] = this.#past
    const seconds = first === undefined ? 0 : (this.#options.clock.monotonicMs() - first.atMs) / 1_000
    return new Map(
      stageNames.flatMap((stage) => {
        const work = this.#own.get(stage)
        if (work === undefined) return []
        const perSecond = seconds <= 0 ? 0 : (work.done - (first?.done.get(stage) ?? 0)) / seconds
        return [[stage, { ...work, perSecond }] as const]
      }),
    )
  }
}

const uncalled: ModelCalls = { calls: 0, failed: 0, inputTokens: 0, outputTokens: 0 }
const idle: PoolWork = { workers: 0, done: 0, failed: 0, tookMs: 0, perSecond: 0 }

/** @returns null for any other text, such as a report of another version */
function parseReport(text: string): StatsReport | null {
  try {
    return statsReportSchema.parse(JSON.parse(text)) as StatsReport
  } catch {
    return null
  }
}
