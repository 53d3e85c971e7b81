import type { WorkerCalls } from '@heddle/runtime'

/** Batches at one thread: one in work, and one waiting so that it never idles. */
const BATCHES_AHEAD = 2

interface Waiting<Request, Response> {
  readonly request: Request
  readonly signal: AbortSignal | undefined
  readonly resolve: (response: Promise<Response>) => void
}

/**
 * Hands batches to threads, each as soon as one of them has room. What waits, waits here and not at a thread, so that a
 * question that somebody waits for overtakes the thousands of texts that nobody does.
 */
export class BatchQueue<Request, Response> {
  readonly #threads: readonly WorkerCalls<Request, Response>[]
  readonly #urgent: Waiting<Request, Response>[] = []
  readonly #patient: Waiting<Request, Response>[] = []

  constructor(threads: readonly WorkerCalls<Request, Response>[]) {
    this.#threads = threads
  }

  /** @throws as {@link WorkerCalls.call} */
  run(
    request: Request,
    { isUrgent, signal }: { isUrgent: boolean; signal: AbortSignal | undefined },
  ): Promise<Response> {
    return new Promise((resolve) => {
      const queue = isUrgent ? this.#urgent : this.#patient
      queue.push({ request, signal, resolve })
      this.#next()
    })
  }

  #next(): void {
    const [thread] = [...this.#threads].sort((left, right) => left.pendingCount - right.pendingCount)
    if (thread === undefined || thread.pendingCount >= BATCHES_AHEAD) return
    const waiting = this.#urgent.shift() ?? this.#patient.shift()
    if (waiting === undefined) return
    const { request, signal, resolve } = waiting
    // What was called off while it waited ends here: `call` looks at the signal first.
    const response = thread.call(request, signal)
    resolve(response)
    response.catch(() => undefined).finally(() => this.#next())
  }
}
