/** The bytes of a recorded session, to be read at any place and as often as one likes. */
export interface ByteSource {
  readonly size: number
  /**
   * The bytes from `from` to before `to`: never fewer.
   *
   * @param into takes them where it has room: who reads a part after the other needs no memory for each
   */
  read(from: number, to: number, into?: Uint8Array): Uint8Array
}

export function bytesOf(text: string): ByteSource {
  const bytes = Buffer.from(text)
  return { size: bytes.length, read: (from, to) => bytes.subarray(from, to) }
}

/** What is held of a source at once while it is looked through. */
const WINDOW_BYTES = 256 * 1_024
export const LINE_FEED = 0x0a

/** Looks through a source byte by byte, with a part of it in memory. */
export class ByteWindow {
  readonly source: ByteSource
  #bytes: Uint8Array = new Uint8Array()
  #from = 0
  #room: Uint8Array | undefined

  constructor(source: ByteSource) {
    this.source = source
  }

  /** -1 behind the end. */
  at(place: number): number {
    const offset = place - this.#from
    if (offset >= 0 && offset < this.#bytes.length) return this.#bytes[offset] as number
    if (place >= this.source.size) return -1
    this.#room ??= new Uint8Array(Math.min(this.source.size, WINDOW_BYTES))
    this.#bytes = this.source.read(place, Math.min(this.source.size, place + WINDOW_BYTES), this.#room)
    this.#from = place
    return this.#bytes[0] ?? -1
  }

  /** The bytes of a part: a view, to be read at once. */
  read(from: number, to: number): Uint8Array {
    const offset = from - this.#from
    if (offset >= 0 && to - this.#from <= this.#bytes.length) return this.#bytes.subarray(offset, to - this.#from)
    return this.source.read(from, to)
  }

  /** Where a byte stands next, before `end`; `end` where it does not. */
  find(byte: number, from: number, end: number): number {
    for (let place = from; place < end; place = this.#from + this.#bytes.length) {
      this.at(place)
      const found = this.#bytes.indexOf(byte, place - this.#from)
      if (found >= 0) return Math.min(end, this.#from + found)
    }
    return end
  }

  /** The number of the line that a place stands in. */
  lineAt(place: number): number {
    let line = 1
    for (let at = this.find(LINE_FEED, 0, place); at < place; at = this.find(LINE_FEED, at + 1, place)) line++
    return line
  }
}
