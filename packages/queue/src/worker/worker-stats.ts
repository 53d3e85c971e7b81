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
 * What the workers of a stage do, in all processes together. Nobody keeps it: each process counts for itself and tells the
 * others once a second while it has workers, or when it is asked. A process that is silent for a while has no workers any
 * more; what it had done by then stays counted.
 */

export interface PoolsOptions {
  /** The name of this process. */
  readonly name: string
  readonly clock: Clock
  /** Tells all processes, this one too. */
  tell(text: string): Promise<void>
}

/** How a try of a job ended, and what it took. */
interface Try {
  readonly stage: StageName
  readonly result: string
  readonly durationMs: number
}

interface Heard {
  readonly stages: Readonly<Partial<Record<StageName, PoolWork>>>
  readonly atMs: number
}

export class Pools {
  readonly #options: PoolsOptions
  readonly #own = new Map<StageName, PoolWork>()
  readonly #models = new Map<string, ModelCalls>()
  readonly #others = new LRUCache<string, Heard>({ max: bounds.poolProcessesMax })
  /** What this process had done at its last ticks, oldest first. */
  #past: { readonly atMs: number; readonly done: ReadonlyMap<StageName, number> }[] = []
  #cancel: (() => void) | undefined
  #isClosed = false

  constructor(options: PoolsOptions) {
    this.#options = options
  }

  started(stage: StageName): void {
    this.#change(stage, (work) => ({ ...work, workers: work.workers + 1 }))
    this.#cancel ??= this.#options.clock.after(0, () => this.#tick())
  }

  stopped(stage: StageName): void {
    this.#change(stage, (work) => ({ ...work, workers: work.workers - 1 }))
    // The others need not wait until this process has been silent for long enough.
    this.#say()
  }

  settled({ stage, result, durationMs }: Try): void {
    const isDone = result === 'done' || result === 'skipped'
    this.#change(stage, (work) => ({
      ...work,
      done: work.done + (isDone ? 1 : 0),
      failed: work.failed + (result === 'retried' || result === 'dead' ? 1 : 0),
      tookMs: work.tookMs + durationMs,
    }))
  }

  /** Takes the word of a process, or its question. */
  receive(text: string): void {
    const word = readWord(text)
    if (word === null || word.from === this.#options.name) return
    if (word.asks) {
      this.#say()
      return
    }
    const { from, stages } = word
    this.#others.set(from, { stages, atMs: this.#options.clock.monotonicMs() })
  }

  /** Has all processes with workers tell at once what they do. */
  async ask(): Promise<void> {
    await this.#options.tell(JSON.stringify({ from: this.#options.name, asks: true }))
  }

  /** A provider was called. */
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

  /** What this process has asked of each model. */
  get ownCalls(): ReadonlyMap<string, ModelCalls> {
    return this.#models
  }

  workersOf(stage: StageName): number {
    return this.workOf(stage).workers
  }

  /** Of all processes that are known. */
  workOf(stage: StageName): PoolWork {
    const sinceMs = this.#options.clock.monotonicMs() - bounds.loadKnownMs
    const total = { ...(this.#told().get(stage) ?? idle) }
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

  #change(stage: StageName, change: (work: PoolWork) => PoolWork): void {
    this.#own.set(stage, change(this.#own.get(stage) ?? idle))
  }

  #tick(): void {
    const nowMs = this.#options.clock.monotonicMs()
    const done = new Map([...this.#own].map(([stage, work]) => [stage, work.done]))
    this.#past = [...this.#past.filter(({ atMs }) => atMs >= nowMs - bounds.poolRateMs), { atMs: nowMs, done }]
    this.#say()
    const hasWorkers = [...this.#own.values()].some(({ workers }) => workers > 0)
    this.#cancel =
      hasWorkers && !this.#isClosed ? this.#options.clock.after(bounds.poolToldEveryMs, () => this.#tick()) : undefined
  }

  #say(): void {
    if (this.#own.size === 0) return
    const word = { from: this.#options.name, stages: Object.fromEntries(this.#told()) }
    // A word that is lost is said again; what is wrong with the server is told by all else that needs it.
    void this.#options.tell(JSON.stringify(word)).catch(() => {})
  }

  /** What this process does, with the pace of its last seconds. */
  #told(): ReadonlyMap<StageName, PoolWork> {
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

/** @returns null for what is no such word, such as one of another version */
function readWord(text: string): StatsReport | null {
  try {
    return statsReportSchema.parse(JSON.parse(text)) as StatsReport
  } catch {
    return null
  }
}
