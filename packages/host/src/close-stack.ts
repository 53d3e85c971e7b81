import { type Logger, within } from '@heddle/runtime'

interface Entry {
  readonly name: string
  readonly timeoutMs: number
  readonly close: () => Promise<unknown>
}

/**
 * Closes opened resources in reverse order. Each close has a time limit, and one that fails or hangs does not prevent the
 * others.
 */
export class CloseStack {
  readonly #entries: Entry[] = []
  readonly #log: Logger
  #closing: Promise<void> | undefined

  constructor(log: Logger) {
    this.#log = log
  }

  /** @param timeoutMs `Infinity` for a close with its own limit */
  push(name: string, timeoutMs: number, close: () => Promise<unknown>): void {
    this.#entries.push({ name, timeoutMs, close })
  }

  close(): Promise<void> {
    this.#closing ??= this.#closeAll()
    return this.#closing
  }

  async #closeAll(): Promise<void> {
    for (const entry of this.#entries.reverse()) {
      const { timeoutMs } = entry
      try {
        await within(entry.close(), { timeoutMs, late: () => notClosed(timeoutMs) })
      } catch (error) {
        this.#log.warn({ error, part: entry.name }, 'closing failed')
      }
    }
  }
}

function notClosed(timeoutMs: number): never {
  throw new Error(`not closed after ${timeoutMs} ms`)
}
