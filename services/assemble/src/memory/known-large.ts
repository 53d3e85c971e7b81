import type { AssembleJob } from '@heddle/contracts'
import { LargeJobError, type LargeJobs, type WorkSize } from '@heddle/queue'
import type { Clock } from '@heddle/runtime'
import type { NewEvent } from '@heddle/store'
import { LRUCache } from 'lru-cache'

/** Requests whose sizes are remembered. */
const REQUESTS_MAX = 10_000
/** After so long a request is looked at again: its thread may have been compacted or cleared since, in milliseconds. */
const KNOWN_FOR_MS = 60_000

/** The requests whose contexts were too large to be built here a moment ago: of these nothing need be read to know it again. */
export class KnownLarge {
  readonly #sizes = new LRUCache<string, { readonly size: WorkSize; readonly untilMs: number }>({ max: REQUESTS_MAX })
  readonly #clock: Pick<Clock, 'monotonicMs'>

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock
  }

  /** @throws LargeJobError where the job asks for what was too large */
  refuse(job: AssembleJob): void {
    const key = keyOf(job)
    const known = key === undefined ? undefined : this.#sizes.get(key)
    if (known !== undefined && known.untilMs > this.#clock.monotonicMs()) throw new LargeJobError(known.size)
  }

  /** The same place for large jobs, which also remembers what is carried out there. */
  remembering(large: LargeJobs<AssembleJob, NewEvent>): LargeJobs<AssembleJob, NewEvent> {
    return {
      sizeMax: large.sizeMax,
      carryOut: (job, size) => {
        this.#remember(job.payload, size)
        return large.carryOut(job, size)
      },
    }
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
  return 'requestKey' in job ? job.requestKey : undefined
}
