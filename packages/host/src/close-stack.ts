import type { Logger } from '@heddle/runtime'

interface Entry {
  readonly name: string
  readonly timeoutMs: number
  readonly close: () => Promise<unknown>
}

/**
 * What was opened, to be closed in reverse. Each close has a bound, and one that fails or hangs does not keep the others from
 * being closed.
 */
export class CloseStack {
  readonly #entries: Entry[] = []
  readonly #log: Logger
  #closing: Promise<void> | undefined

  constructor(log: Logger) {
    this.#log = log
  }

  /** @param timeoutMs `Infinity` for a close that bounds itself */
  push(name: string, timeoutMs: number, close: () => Promise<unknown>): void {
    this.#entries.push({ name, timeoutMs, close })
  }

  close(): Promise<void> {
    this.#closing ??= this.#closeAll()
    return this.#closing
  }

  async #closeAll(): Promise<void> {
    for (const entry of this.#entries.reverse()) {
      try {
        await withinMs(entry.timeoutMs, entry.close())
      } catch (error) {
        this.#log.warn({ error, part: entry.name }, 'closing failed')
      }
    }
  }
}

async function withinMs(timeoutMs: number, work: Promise<unknown>): Promise<void> {
  if (timeoutMs === Number.POSITIVE_INFINITY) {
    await work
    return
  }
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not closed after ${timeoutMs} ms`)), timeoutMs)
  })
  try {
    await Promise.race([work, timeout])
  } finally {
    clearTimeout(timer)
  }
}
