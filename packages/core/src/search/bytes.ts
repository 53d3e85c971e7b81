/** Writes bytes in sequence. */
export class ByteWriter {
  #bytes = new Uint8Array(256)
  length = 0

  byte(value: number): void {
    this.#reserve(1)
    this.#bytes[this.length++] = value
  }

  /** A whole number from 0 to 2^53, in groups of 7 bits, the lowest first. */
  number(value: number): void {
    let rest = value
    while (rest >= 128) {
      this.byte((rest % 128) | 128)
      rest = Math.floor(rest / 128)
    }
    this.byte(rest)
  }

  bytes(values: Uint8Array): void {
    this.#reserve(values.length)
    this.#bytes.set(values, this.length)
    this.length += values.length
  }

  /** The characters from a position on, each of which is a byte. */
  characters(text: string, from: number): void {
    this.#reserve(text.length - from)
    for (let at = from; at < text.length; at++) this.#bytes[this.length++] = text.charCodeAt(at)
  }

  /** The bytes since the last call. */
  take(): Uint8Array {
    const taken = this.#bytes.slice(0, this.length)
    this.length = 0
    return taken
  }

  #reserve(count: number): void {
    if (this.length + count <= this.#bytes.length) return
    const grown = new Uint8Array(Math.max(this.#bytes.length * 2, this.length + count))
    grown.set(this.#bytes.subarray(0, this.length))
    this.#bytes = grown
  }
}

/** Reads what {@link ByteWriter} wrote. */
export class ByteReader {
  at = 0
  constructor(readonly source: Uint8Array) {}

  get isAtEnd(): boolean {
    return this.at >= this.source.length
  }

  byte(): number {
    const value = this.source[this.at++]
    if (value === undefined) throw new Error('postings end in the middle of a number')
    return value
  }

  number(): number {
    let value = 0
    let factor = 1
    for (;;) {
      const next = this.byte()
      if (next < 128) return value + next * factor
      value += (next - 128) * factor
      factor *= 128
    }
  }

  /** @returns where the skipped bytes begin */
  skip(count: number): number {
    if (this.at + count > this.source.length) throw new Error('postings end in the middle of a list')
    this.at += count
    return this.at - count
  }
}
