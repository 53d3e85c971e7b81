import { type ModelCalls, type PrunedCounts, stageNames } from '@heddle/contracts'
import type { Settled } from '@heddle/queue'
import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client'

/** Seconds: from the duration of a read to the longest wait of a caller. */
export const DURATION_BUCKETS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

/** Gauges of the library whose names end with `_total`, which Prometheus would read as counters. */
const MISNAMED = ['nodejs_active_resources_total', 'nodejs_active_handles_total', 'nodejs_active_requests_total']

/**
 * Metrics of one process in the format of Prometheus. Each process counts only its own work, so the sum over all processes
 * is the total for any number of gateways; Prometheus distinguishes them by address.
 */
export class ProcessMetrics {
  readonly registry = new Registry()
  readonly #tries: Histogram<'stage' | 'result'>
  readonly #done: Counter<'stage'>
  readonly #failed: Counter<'stage'>
  readonly #tookSeconds: Counter<'stage'>
  readonly #compactions: Counter
  readonly #pruned: Counter<'action'>
  readonly #tokensSaved: Counter
  readonly #modelCalls: Counter<'model' | 'outcome'>
  readonly #modelTokens: Counter<'model' | 'direction'>

  constructor() {
    const registers = [this.registry]
    // Process, memory, garbage collection and the delay of the event loop.
    collectDefaultMetrics({ register: this.registry })
    for (const name of MISNAMED) this.registry.removeSingleMetric(name)
    this.#tries = new Histogram({
      name: 'heddle_stage_duration_seconds',
      help: 'Duration of job attempts in the workers of this process, by outcome',
      labelNames: ['stage', 'result'],
      buckets: DURATION_BUCKETS,
      registers,
    })
    this.#done = new Counter({
      name: 'heddle_stage_jobs_done_total',
      help: 'Jobs finished by the workers of this process',
      labelNames: ['stage'],
      registers,
    })
    this.#failed = new Counter({
      name: 'heddle_stage_tries_failed_total',
      help: 'Failed job attempts in the workers of this process, retried or not',
      labelNames: ['stage'],
      registers,
    })
    this.#tookSeconds = new Counter({
      name: 'heddle_stage_tries_seconds_total',
      help: 'Total duration of job attempts in the workers of this process',
      labelNames: ['stage'],
      registers,
    })
    this.#compactions = new Counter({
      name: 'heddle_compactions_total',
      help: 'Compactions of threads by this process',
      registers,
    })
    this.#pruned = new Counter({
      name: 'heddle_pruned_messages_total',
      help: 'Messages that these compactions condensed, reduced to a stub or removed',
      labelNames: ['action'],
      registers,
    })
    this.#tokensSaved = new Counter({
      name: 'heddle_compaction_tokens_saved_total',
      help: 'Tokens by which these compactions shortened contexts',
      registers,
    })
    this.#modelCalls = new Counter({
      name: 'heddle_model_calls_total',
      help: 'Calls of this process to providers for summaries',
      labelNames: ['model', 'outcome'],
      registers,
    })
    this.#modelTokens = new Counter({
      name: 'heddle_model_tokens_total',
      help: 'Input and output tokens of those calls',
      labelNames: ['model', 'direction'],
      registers,
    })
    // Starts at 0, so that Prometheus sees the first increase.
    for (const stage of stageNames) {
      for (const total of [this.#done, this.#failed, this.#tookSeconds]) total.inc({ stage }, 0)
      this.#tries.zero({ stage, result: 'dead' })
    }
    this.pruned({ compactions: 0, condensed: 0, stubbed: 0, removed: 0, tokensSaved: 0 })
  }

  get contentType(): string {
    return this.registry.contentType
  }

  settled({ stage, result, durationMs }: Settled): void {
    const seconds = durationMs / 1_000
    this.#tries.observe({ stage, result }, seconds)
    this.#tookSeconds.inc({ stage }, seconds)
    if (result === 'done' || result === 'skipped') this.#done.inc({ stage })
    if (result === 'retried' || result === 'dead') this.#failed.inc({ stage })
  }

  pruned({ compactions, condensed, stubbed, removed, tokensSaved }: PrunedCounts): void {
    this.#compactions.inc(compactions)
    this.#tokensSaved.inc(Math.max(0, tokensSaved))
    for (const [action, count] of Object.entries({ condensed, stubbed, removed })) this.#pruned.inc({ action }, count)
  }

  /** @param models calls of this process to each model since its start; counted elsewhere, shown here */
  async read(models: ReadonlyMap<string, ModelCalls>): Promise<string> {
    this.#modelCalls.reset()
    this.#modelTokens.reset()
    for (const [model, { calls, failed, inputTokens, outputTokens }] of models) {
      this.#modelCalls.inc({ model, outcome: 'ok' }, calls - failed)
      this.#modelCalls.inc({ model, outcome: 'failed' }, failed)
      this.#modelTokens.inc({ model, direction: 'input' }, inputTokens)
      this.#modelTokens.inc({ model, direction: 'output' }, outputTokens)
    }
    return await this.registry.metrics()
  }
}
