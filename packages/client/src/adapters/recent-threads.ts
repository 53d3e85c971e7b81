import { validationError } from '@heddle/contracts'

/** Threads whose end is kept in memory; others read it again. */
const THREADS_MAX = 100

/** The threads in which an agent ran last; it may run in several at once. */
export class RecentThreads<Thread> {
  readonly #threads = new Map<string, Thread>()
  readonly #open: (name: string) => Thread

  constructor(open: (name: string) => Thread) {
    this.#open = open
  }

  of(name: string): Thread {
    const thread = this.#threads.get(name) ?? this.#open(name)
    // Maps are ordered by insertion: the first one is the thread that was used the longest time ago.
    this.#threads.delete(name)
    this.#threads.set(name, thread)
    const [oldest] = this.#threads.keys()
    if (this.#threads.size > THREADS_MAX && oldest !== undefined) this.#threads.delete(oldest)
    return thread
  }
}

/**
 * The name of a run's thread.
 *
 * @param place where the framework has the name, such as `configurable.thread_id`
 * @throws PermanentError `VALIDATION_ERROR` for anything that is no name
 */
export function checkedThread(received: unknown, place: string): string {
  if (typeof received === 'string' && received !== '') return received
  const hint = `Run the agent with ${place}, or give the adapter the option thread: a name, or a function that returns one.`
  throw validationError('thread', 'must be a name', received, hint)
}
