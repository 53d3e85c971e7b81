import { PromptThread, promptAvailability } from '@heddle/ai-sdk/prompts'
import type { Run } from './framework.js'
import { type HeddleOptions, threadOf } from './options.js'

/** Threads whose end is kept in memory; others read it again. */
const THREADS_MAX = 100

/** The threads of an agent, which may run for several at once. */
export class Threads {
  readonly #options: HeddleOptions
  readonly #availability: ReturnType<typeof promptAvailability>
  readonly #threads = new Map<string, PromptThread>()

  constructor(options: HeddleOptions) {
    this.#options = options
    this.#availability = promptAvailability(options)
  }

  of(run: Run): PromptThread {
    const name = threadOf(this.#options, run)
    const thread = this.#threads.get(name) ?? new PromptThread({ ...this.#options, thread: name }, this.#availability)
    this.#threads.delete(name)
    this.#threads.set(name, thread)
    for (const oldest of this.#threads.keys()) {
      if (this.#threads.size <= THREADS_MAX) break
      this.#threads.delete(oldest)
    }
    return thread
  }
}
