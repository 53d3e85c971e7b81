/** The bytes of a recorded session, readable at any offset and repeatedly. */
export interface ByteSource {
  readonly size: number
  /**
   * The bytes in `[from, to)`, never fewer.
   *
   * @param into buffer to reuse if it is large enough, so that consecutive reads need no new memory
   */
  read(from: number, to: number, into?: Uint8Array): Uint8Array
}

export function bytesOf(text: string): ByteSource {
  const bytes = Buffer.from(text)
  return { size: bytes.length, read: (from, to) => bytes.subarray(from, to) }
}

/** Bytes of a source in memory at once during a scan. */
const WINDOW_BYTES = 256 * 1_024
export const LINE_FEED = 0x0a

/** Reads a source byte by byte, through a window in memory. */
export class ByteWindow {
  readonly source: ByteSource
  #bytes: Uint8Array = new Uint8Array()
  #from = 0
  #room: Uint8Array | undefined

  constructor(source: ByteSource) {
    this.source = source
  }

  /** -1 after the end. */
  at(place: number): number {
    const offset = place - this.#from
    if (offset >= 0 && offset < this.#bytes.length) return this.#bytes[offset] as number
    if (place >= this.source.size) return -1
    this.#room ??= new Uint8Array(Math.min(this.source.size, WINDOW_BYTES))
    this.#bytes = this.source.read(place, Math.min(this.source.size, place + WINDOW_BYTES), this.#room)
    this.#from = place
    return this.#bytes[0] ?? -1
  }

  /** The bytes of a range: a view, valid until the next read. */
  read(from: number, to: number): Uint8Array {
    const offset = from - this.#from
    if (offset >= 0 && to - this.#from <= this.#bytes.length) return this.#bytes.subarray(offset, to - this.#from)
    return this.source.read(from, to)
  }

  /** Offset of the next occurrence of a byte before `end`; `end` if there is no occurrence. */
  find(byte: number, from: number, end: number): number {
    for (let place = from; place < end; place = this.#from + this.#bytes.length) {
      this.at(place)
      const found = this.#bytes.indexOf(byte, place - this.#from)
      if (found >= 0) return Math.min(end, this.#from + found)
    }
    return end
  }

  lineAt(place: number): number {
    let line = 1
    for (let at = this.find(LINE_FEED, 0, place); at < place; at = this.find(LINE_FEED, at + 1, place)) line++
    return line
  }
}
