import type { ModelCalls, PrunedCounts } from '@heddle/contracts'
import type { Settled, StageStats } from '@heddle/queue'
import { Counter, Gauge, Histogram } from 'prom-client'
import { DURATION_BUCKETS, ProcessMetrics } from './process-metrics.js'

/**
 * Metrics in the format of Prometheus. Counters are of this process only; gauges of stages are of the whole deployment, and
 * the same from each gateway.
 */
export class Metrics {
  readonly #process = new ProcessMetrics()
  readonly #durations: Histogram<'method' | 'route' | 'status'>
  readonly #refused: Counter<'code'>
  readonly #jobs: Gauge<'stage' | 'state'>
  readonly #backlog: Gauge<'stage'>
  readonly #oldestWait: Gauge<'stage'>
  readonly #failed: Gauge<'stage'>
  readonly #paused: Gauge<'stage'>
  readonly #workers: Gauge<'stage'>
  readonly #pace: Gauge<'stage'>
  readonly #streams: Gauge
  readonly #isReadable: Gauge

  constructor() {
    const registers = [this.#process.registry]
    this.#durations = new Histogram({
      name: 'heddle_http_request_duration_seconds',
      help: 'Time from the request to the end of its answer, by route',
      labelNames: ['method', 'route', 'status'],
      buckets: DURATION_BUCKETS,
      registers,
    })
    this.#refused = new Counter({
      name: 'heddle_http_problems_total',
      help: 'Answers with a problem document, by code',
      labelNames: ['code'],
      registers,
    })
    this.#jobs = new Gauge({
      name: 'heddle_stage_jobs',
      help: 'Jobs of a stage: waiting, active, delayed until their next attempt, or due, which are delayed ones not fetched yet',
      labelNames: ['stage', 'state'],
      registers,
    })
    this.#backlog = new Gauge({
      name: 'heddle_stage_backlog',
      help: 'Jobs that a worker of a stage could fetch: waiting or due, with a priority or without',
      labelNames: ['stage'],
      registers,
    })
    this.#oldestWait = new Gauge({
      name: 'heddle_stage_oldest_wait_seconds',
      help: 'How long the oldest job of the backlog of a stage has waited; 0 if none waits',
      labelNames: ['stage'],
      registers,
    })
    this.#failed = new Gauge({
      name: 'heddle_stage_dead_letters',
      help: 'Dead letters of the project that were not redriven, at most the latest 1,000',
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
    this.#pace = new Gauge({
      name: 'heddle_stage_jobs_per_second',
      help: 'Jobs per second of the workers of all processes, over the last ten seconds',
      labelNames: ['stage'],
      registers,
    })
    this.#streams = new Gauge({ name: 'heddle_event_streams', help: 'Open event streams', registers })
    this.#isReadable = new Gauge({
      name: 'heddle_queues_readable',
      help: '1 if the figures of the stages could be read; 0 if they are missing in this answer',
      registers,
    })
  }

  get contentType(): string {
    return this.#process.contentType
  }

  /** @param route the pattern of the path, never the path itself, which contains names */
  answered(method: string, route: string, status: number, durationMs: number): void {
    this.#durations.observe({ method, route, status: String(status) }, durationMs / 1_000)
  }

  settled(settled: Settled): void {
    this.#process.settled(settled)
  }

  pruned(counts: PrunedCounts): void {
    this.#process.pruned(counts)
  }

  refused(code: string): void {
    this.#refused.inc({ code })
  }

  /** @param stages null if the queues could not be read */
  async read(
    stages: readonly StageStats[] | null,
    known: {
      /** Null if they are not known. */
      deadLetters: readonly { readonly stage: string }[] | null
      streams: number
      models?: ReadonlyMap<string, ModelCalls>
    },
  ): Promise<string> {
    const { deadLetters, streams, models = new Map() } = known
    this.#streams.set(streams)
    this.#isReadable.set(stages === null ? 0 : 1)
    const ofStages = [
      this.#jobs,
      this.#backlog,
      this.#oldestWait,
      this.#failed,
      this.#paused,
      this.#workers,
      this.#pace,
    ]
    for (const gauge of ofStages) gauge.reset()
    for (const { stage, waiting, active, delayed, due, paused, oldestWaitMs, pool } of stages ?? []) {
      this.#jobs.set({ stage, state: 'waiting' }, waiting)
      this.#jobs.set({ stage, state: 'active' }, active)
      this.#jobs.set({ stage, state: 'delayed' }, delayed)
      this.#jobs.set({ stage, state: 'due' }, due)
      this.#backlog.set({ stage }, waiting + due)
      this.#oldestWait.set({ stage }, (oldestWaitMs ?? 0) / 1_000)
      this.#paused.set({ stage }, paused ? 1 : 0)
      this.#workers.set({ stage }, pool.workers)
      this.#pace.set({ stage }, pool.perSecond)
      if (deadLetters !== null)
        this.#failed.set({ stage }, deadLetters.filter((letter) => letter.stage === stage).length)
    }
    return await this.#process.read(models)
  }
}
