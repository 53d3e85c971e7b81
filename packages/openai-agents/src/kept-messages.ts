import type { AdapterClient } from '@heddle/client/adapters'
import type { MessageEntry } from '@heddle/contracts'
import type { Stored } from './assembled.js'
import { readStored } from './records.js'

const PAGE = 500
/** Missing messages that are nearer to each other are read in one page. */
const GAP_MAX = 50
/** Messages of the last context that are kept, with those appended since. */
const KEPT_MAX = 2_000

/** The messages of the last contexts with their items, so that the next one reads only what is new to this process. */
export class KeptMessages {
  readonly #client: AdapterClient
  readonly #kept = new Map<string, Stored>()

  constructor(client: AdapterClient) {
    this.#client = client
  }

  keep(stored: Stored): void {
    this.#kept.delete(stored.id)
    this.#kept.set(stored.id, stored)
    for (const id of this.#kept.keys()) {
      if (this.#kept.size <= KEPT_MAX) break
      this.#kept.delete(id)
    }
  }

  async read(thread: string, entries: readonly MessageEntry[]): Promise<Stored[]> {
    const recall = async (ref: string) => (await this.#client.recall({ ref, thread })).part?.data ?? ''
    const read = entries.map(async (entry) => this.#kept.get(entry.id) ?? (await readStored(entry, recall)))
    return (await Promise.all(read)).filter((stored) => stored !== null)
  }

  /** The messages of these ids, from memory or else in as few pages as possible. */
  async load(thread: string, wanted: readonly { id: string; seq: number }[]): Promise<Map<string, Stored>> {
    const missing = wanted.filter(({ id }) => !this.#kept.has(id)).map(({ seq }) => seq)
    missing.sort((left, right) => left - right)
    while (missing.length > 0) {
      const [first = 0] = missing
      let count = 1
      while (count < missing.length && (missing[count] ?? 0) - (missing[count - 1] ?? 0) <= GAP_MAX) count++
      const last = missing.splice(0, count).at(-1) ?? first
      for (let from = first; from <= last; from += PAGE) {
        const limit = Math.min(PAGE, last - from + 1)
        const cursor = from > 1 ? { cursor: String(from - 1) } : {}
        const page = await this.#client.messages.list({ thread, limit, order: 'asc', ...cursor })
        for (const stored of await this.read(thread, page.items)) this.keep(stored)
      }
    }
    const found = wanted.map(({ id }) => this.#kept.get(id)).filter((stored) => stored !== undefined)
    for (const stored of found) this.keep(stored)
    return new Map(found.map((stored) => [stored.id, stored]))
  }
}
