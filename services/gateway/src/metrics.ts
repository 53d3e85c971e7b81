import type { ModelCalls } from '@heddle/contracts'
import type { Settled, StageStats } from '@heddle/queue'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

/** Seconds: from what a read takes to what a caller may wait. */
const DURATION_BUCKETS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

/** What is counted and measured, in the form that Prometheus reads. */
export class Metrics {
  readonly #registry = new Registry()
  readonly #durations: Histogram<'method' | 'route' | 'status'>
  readonly #tries: Histogram<'stage' | 'result'>
  readonly #refused: Counter<'code'>
  readonly #jobs: Gauge<'stage' | 'state'>
  readonly #oldestWait: Gauge<'stage'>
  readonly #failed: Gauge<'stage'>
  readonly #paused: Gauge<'stage'>
  readonly #workers: Gauge<'stage'>
  readonly #done: Gauge<'stage'>
  readonly #triesFailed: Gauge<'stage'>
  readonly #tookSeconds: Gauge<'stage'>
  readonly #modelCalls: Gauge<'model' | 'outcome'>
  readonly #modelTokens: Gauge<'model' | 'direction'>
  readonly #streams: Gauge
  readonly #isReadable: Gauge

  constructor() {
    const registers = [this.#registry]
    // Process, memory, garbage collection and the delay of the event loop.
    collectDefaultMetrics({ register: this.#registry })
    this.#durations = new Histogram({
      name: 'heddle_http_request_duration_seconds',
      help: 'From the request to the end of its answer, by route',
      labelNames: ['method', 'route', 'status'],
      buckets: DURATION_BUCKETS,
      registers,
    })
    this.#tries = new Histogram({
      name: 'heddle_stage_duration_seconds',
      help: 'What a try of a job took in the workers of this process, by how it ended',
      labelNames: ['stage', 'result'],
      buckets: DURATION_BUCKETS,
      registers,
    })
    this.#refused = new Counter({
      name: 'heddle_http_problems_total',
      help: 'Problem documents that were answered, by code',
      labelNames: ['code'],
      registers,
    })
    this.#jobs = new Gauge({
      name: 'heddle_stage_jobs',
      help: 'Jobs of a stage: waiting, active, or delayed until their next try',
      labelNames: ['stage', 'state'],
      registers,
    })
    this.#oldestWait = new Gauge({
      name: 'heddle_stage_oldest_wait_seconds',
      help: 'How long the oldest waiting job of a stage has waited; 0 where none waits',
      labelNames: ['stage'],
      registers,
    })
    this.#failed = new Gauge({
      name: 'heddle_stage_dead_letters',
      help: 'The latest jobs of the project that failed for good and were not sent again, at most 1,000',
      labelNames: ['stage'],
      registers,
    })
    this.#paused = new Gauge({
      name: 'heddle_stage_paused',
      help: '1 while a stage is paused',
      labelNames: ['stage'],
      registers,
    })
    this.#workers = new Gauge({
      name: 'heddle_stage_workers',
      help: 'Workers of a stage in all processes together',
      labelNames: ['stage'],
      registers,
    })
    // Counted by the workers, here only shown: what counts up is a gauge to the library.
    this.#done = new Gauge({
      name: 'heddle_stage_jobs_done_total',
      help: 'Jobs that the workers of all processes have done, as far as this process has heard',
      labelNames: ['stage'],
      registers,
    })
    this.#triesFailed = new Gauge({
      name: 'heddle_stage_tries_failed_total',
      help: 'Tries of jobs that failed in the workers of all processes, whether or not they were tried again',
      labelNames: ['stage'],
      registers,
    })
    this.#tookSeconds = new Gauge({
      name: 'heddle_stage_tries_seconds_total',
      help: 'What all tries of jobs took in the workers of all processes',
      labelNames: ['stage'],
      registers,
    })
    this.#modelCalls = new Gauge({
      name: 'heddle_model_calls_total',
      help: 'Calls of providers for summaries, by all processes, as far as this one has heard',
      labelNames: ['model', 'outcome'],
      registers,
    })
    this.#modelTokens = new Gauge({
      name: 'heddle_model_tokens_total',
      help: 'Tokens that those calls took and gave',
      labelNames: ['model', 'direction'],
      registers,
    })
    this.#streams = new Gauge({ name: 'heddle_event_streams', help: 'Open streams of events', registers })
    this.#isReadable = new Gauge({
      name: 'heddle_queues_readable',
      help: '1 if the figures of the stages could be read for this answer, otherwise they are left out',
      registers,
    })
  }

  get contentType(): string {
    return this.#registry.contentType
  }

  /** @param route the pattern of the path, never the path itself: that holds names */
  answered(method: string, route: string, status: number, durationMs: number): void {
    this.#durations.observe({ method, route, status: String(status) }, durationMs / 1_000)
  }

  settled({ stage, result, durationMs }: Settled): void {
    this.#tries.observe({ stage, result }, durationMs / 1_000)
  }

  refused(code: string): void {
    this.#refused.inc({ code })
  }

  /** @param stages null where the queues could not be read */
  async read(
    stages: readonly StageStats[] | null,
    {
      deadLetters,
      streams,
      models = new Map(),
    }: {
      deadLetters: readonly { readonly stage: string }[]
      streams: number
      models?: ReadonlyMap<string, ModelCalls>
    },
  ): Promise<string> {
    this.#streams.set(streams)
    this.#isReadable.set(stages === null ? 0 : 1)
    for (const gauge of [this.#jobs, this.#oldestWait, this.#failed, this.#paused, this.#workers]) gauge.reset()
    for (const { stage, waiting, active, delayed, paused, oldestWaitMs, pool } of stages ?? []) {
      this.#jobs.set({ stage, state: 'waiting' }, waiting)
      this.#jobs.set({ stage, state: 'active' }, active)
      this.#jobs.set({ stage, state: 'delayed' }, delayed)
      this.#oldestWait.set({ stage }, (oldestWaitMs ?? 0) / 1_000)
      this.#paused.set({ stage }, paused ? 1 : 0)
      this.#workers.set({ stage }, pool.workers)
      this.#done.set({ stage }, pool.done)
      this.#triesFailed.set({ stage }, pool.failed)
      this.#tookSeconds.set({ stage }, pool.tookMs / 1_000)
      this.#failed.set({ stage }, deadLetters.filter((letter) => letter.stage === stage).length)
    }
    for (const [model, { calls, failed, inputTokens, outputTokens }] of models) {
      this.#modelCalls.set({ model, outcome: 'ok' }, calls - failed)
      this.#modelCalls.set({ model, outcome: 'failed' }, failed)
      this.#modelTokens.set({ model, direction: 'input' }, inputTokens)
      this.#modelTokens.set({ model, direction: 'output' }, outputTokens)
    }
    return await this.#registry.metrics()
  }
}
