import { Limiter, type WorkerCalls } from '@heddle/runtime'

/** Batches at one thread: one running, and one waiting so that it never idles. */
const BATCHES_AHEAD = 2

/**
 * Sends each batch to a thread as soon as one has capacity. Batches wait here and not at a thread, so that an interactive
 * query overtakes thousands of background texts.
 */
export class BatchQueue<Request, Response> {
  readonly #threads: readonly WorkerCalls<Request, Response>[]
  readonly #limiter: Limiter

  constructor(threads: readonly WorkerCalls<Request, Response>[]) {
    this.#threads = threads
    this.#limiter = new Limiter({ atOnce: threads.length * BATCHES_AHEAD })
  }

  /** @throws as {@link WorkerCalls.call} */
  async run(
    request: Request,
    { isUrgent, signal }: { isUrgent: boolean; signal: AbortSignal | undefined },
  ): Promise<Response> {
    return await this.#limiter.run(
      async () => {
        const [leastBusy] = [...this.#threads].sort((left, right) => left.pendingCount - right.pendingCount)
        if (leastBusy === undefined) throw new TypeError('there is no thread')
        return await leastBusy.call(request, signal)
      },
      { isFirst: isUrgent, signal },
    )
  }
}
