import type { AssembleJob } from '@heddle/contracts'
import { readRequestKey } from '@heddle/core'
import { LargeJobError, type LargeJobs, type WorkSize } from '@heddle/queue'
import type { Clock } from '@heddle/runtime'
import type { NewEvent } from '@heddle/store'
import { LRUCache } from 'lru-cache'

/** Requests whose sizes are remembered. */
const REQUESTS_MAX = 10_000
/** Time after which a request is measured again, because its thread may have been compacted or cleared. */
const KNOWN_FOR_MS = 60_000

/** Remembers requests whose contexts were too large for this process, so that they are refused without a read. */
export class KnownLarge {
  readonly #sizes = new LRUCache<string, { readonly size: WorkSize; readonly untilMs: number }>({ max: REQUESTS_MAX })
  readonly #clock: Pick<Clock, 'monotonicMs'>

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock
  }

  /** Whether the job's request was too large recently. */
  has(job: AssembleJob): boolean {
    return this.#sizeOf(job) !== undefined
  }

  /** @throws LargeJobError if the job's request was too large recently */
  refuse(job: AssembleJob): void {
    const size = this.#sizeOf(job)
    if (size !== undefined) throw new LargeJobError(size)
  }

  /** Wraps `large` so that the requests run there are remembered. */
  remembering(large: LargeJobs<AssembleJob, NewEvent>): LargeJobs<AssembleJob, NewEvent> {
    return {
      sizeMax: large.sizeMax,
      carryOut: (job, size) => {
        this.#remember(job.payload, size)
        return large.carryOut(job, size)
      },
    }
  }

  #sizeOf(job: AssembleJob): WorkSize | undefined {
    const key = keyOf(job)
    const known = key === undefined ? undefined : this.#sizes.get(key)
    return known !== undefined && known.untilMs > this.#clock.monotonicMs() ? known.size : undefined
  }

  #remember(job: AssembleJob, size: WorkSize): void {
    const key = keyOf(job)
    if (key === undefined) return
    const known = this.#sizes.get(key)
    const nowMs = this.#clock.monotonicMs()
    if (known === undefined || known.untilMs <= nowMs) this.#sizes.set(key, { size, untilMs: nowMs + KNOWN_FOR_MS })
  }
}

function keyOf(job: AssembleJob): string | undefined {
  return 'requestKey' in job ? readRequestKey(job.requestKey).key : undefined
}
