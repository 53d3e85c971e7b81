import type { StageSample } from '@heddle/contracts'
import type { StageStats } from '@heddle/queue'
import type { Clock, Logger } from '@heddle/runtime'

const EVERY_MS = 60_000
/** Until the next attempt after a failure, as while the backend is being opened. */
const RETRY_MS = 2_000
const SAMPLES_MAX = 360

export interface StageSamplesOptions {
  readonly clock: Clock
  readonly log: Logger
  readStats(): Promise<readonly StageStats[]>
}

/** The queues of all stages once a minute, in memory: the last six hours for a deployment without a Prometheus. */
export class StageSamples {
  readonly #options: StageSamplesOptions
  readonly #closing = new AbortController()
  readonly #samples: StageSample[] = []

  constructor(options: StageSamplesOptions) {
    this.#options = options
    void this.#run().catch(() => {})
  }

  /** Oldest first. */
  get all(): readonly StageSample[] {
    return this.#samples
  }

  close(): void {
    this.#closing.abort()
  }

  async #run(): Promise<void> {
    const { clock } = this.#options
    for (;;) {
      const isTaken = await this.#take()
      await clock.wait(isTaken ? EVERY_MS : RETRY_MS, this.#closing.signal)
    }
  }

  async #take(): Promise<boolean> {
    const { clock, log, readStats } = this.#options
    try {
      const stages = (await readStats()).map(({ stage, waiting, active, delayed, oldestWaitMs, pool }) => {
        return { stage, waiting, active, delayed, oldestWaitMs, perSecond: pool.perSecond }
      })
      this.#samples.push({ at: new Date(clock.nowMs()).toISOString(), stages })
      if (this.#samples.length > SAMPLES_MAX) this.#samples.shift()
      return true
    } catch (error) {
      // The gap is visible in the times of the samples.
      log.debug({ error }, 'reading the figures of the stages failed')
      return false
    }
  }
}
