import { seqOfName } from './texts.js'

interface KnownLine {
  readonly text: string
  /** The messages whose texts it names. */
  readonly seqs: readonly number[]
}

/** The lines of messages and entries that the contexts of a growing thread share, by their objects. */
export type LineCache = WeakMap<object, KnownLine>

/** The lines that one context takes over from those before it. */
export class KnownLines {
  readonly #lines: LineCache
  readonly #loaded: ReadonlySet<number>

  /** @param loaded the messages that the context was built of: it must name no others, whose erasure would not end it */
  constructor(lines: LineCache, loaded: ReadonlySet<number>) {
    this.#lines = lines
    this.#loaded = loaded
  }

  find(value: unknown): string | undefined {
    const known = typeof value === 'object' && value !== null ? this.#lines.get(value) : undefined
    return known?.seqs.every((seq) => this.#loaded.has(seq)) === true ? known.text : undefined
  }

  /** Keeps a line unless it names other texts than those of messages, which belong to one request or version of an agent. */
  keep(value: unknown, text: string, names: readonly string[]): void {
    if (typeof value !== 'object' || value === null) return
    const seqs: number[] = []
    for (const name of names) {
      const seq = seqOfName(name)
      if (seq === null) return
      seqs.push(seq)
    }
    this.#lines.set(value, { text, seqs })
  }
}
