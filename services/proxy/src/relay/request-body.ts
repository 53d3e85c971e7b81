import type { ClientRequest, IncomingMessage } from 'node:http'

/** A body that can be sent to an upstream. */
export interface SentBody {
  /** Whether it can be sent a second time. */
  readonly isRepeatable: boolean
  sendTo(sending: ClientRequest): void
}

export interface RequestBodyOptions {
  /** Bytes to keep; a longer body is relayed without a copy. */
  readonly bytesMax: number
  /** Reserves memory for the copy. @returns false if no memory is left: the body is then relayed without a copy */
  reserve(bytes: number): boolean
}

/** Bytes that may wait for a slow upstream before its caller is stopped: several parts, so that one write has all of them. */
const WAITING_BYTES_MAX = 256 * 1024

/**
 * The body of a request, relayed while it arrives. A copy is kept as far as the limits allow, for those who read the body,
 * and to send it again.
 */
export class RequestBody implements SentBody {
  readonly #request: IncomingMessage
  readonly #options: RequestBodyOptions
  /** All that has arrived while it is kept; else what waits for an upstream. */
  #parts: Buffer[] = []
  #bytes = 0
  #isKept = true
  #isComplete = false
  #sending: ClientRequest | null = null
  #isCorked = false
  #settle: (isKept: boolean) => void = () => {}
  /** Whether the whole body has arrived and was kept: false as soon as it was not, or if the caller ended within it. */
  readonly arrived = new Promise<boolean>((resolve) => {
    this.#settle = resolve
  })

  constructor(request: IncomingMessage, options: RequestBodyOptions) {
    this.#request = request
    this.#options = options
    request.on('data', (part: Buffer) => this.#take(part))
    request.once('end', () => this.#complete())
    request.once('close', () => this.#settle(false))
    // The response reports that the connection has ended.
    request.on('error', () => {})
  }

  get isRepeatable(): boolean {
    return this.#isKept
  }

  /** The whole body, once it has arrived; null if it was not kept. */
  async whole(): Promise<Buffer | null> {
    return (await this.arrived) ? this.join() : null
  }

  /**
   * The whole body, which must have arrived; null if it was not kept. Joining its parts takes about as long as relaying some of
   * them, so it is left to the moment in which somebody reads the body.
   */
  join(): Buffer | null {
    if (!this.#isKept || !this.#isComplete) return null
    // One copy is enough, also to send it again.
    if (this.#parts.length !== 1) this.#parts = [Buffer.concat(this.#parts)]
    return this.#parts[0] ?? null
  }

  sendTo(sending: ClientRequest): void {
    this.#sending = sending
    this.#isCorked = false
    sending.on('drain', () => this.#request.resume())
    for (const part of this.#parts) this.#write(sending, part)
    if (!this.#isKept) this.#parts = []
    if (this.#isComplete) sending.end()
    else this.#request.resume()
  }

  /** Drops the copy. */
  forget(): void {
    this.#parts = []
    this.#isKept = false
  }

  #take(part: Buffer): void {
    const { bytesMax, reserve } = this.#options
    this.#bytes += part.length
    if (this.#isKept && (this.#bytes > bytesMax || !reserve(part.length))) {
      this.#isKept = false
      this.#settle(false)
      if (this.#sending !== null) this.#parts = []
    }
    if (this.#isKept || this.#sending === null) this.#parts.push(part)
    const isTaken = this.#sending === null ? this.#isKept : this.#write(this.#sending, part)
    if (!isTaken) this.#request.pause()
  }

  /**
   * All parts that are read in one iteration of the event loop are one write: each write wakes the upstream, which then reads
   * them one by one.
   *
   * @returns whether more may be written at once
   */
  #write(sending: ClientRequest, part: Buffer): boolean {
    if (!this.#isCorked) {
      this.#isCorked = true
      sending.cork()
      setImmediate(() => {
        // The end of the body uncorks by itself, after which the connection may be that of another request.
        if (!this.#isCorked || this.#sending !== sending) return
        this.#isCorked = false
        sending.uncork()
      })
    }
    return sending.write(part) || sending.writableLength < WAITING_BYTES_MAX
  }

  #complete(): void {
    this.#isComplete = true
    this.#isCorked = false
    this.#sending?.end()
    this.#settle(this.#isKept)
  }
}

/** A body other than the caller's. */
export function bodyOf(bytes: Uint8Array): SentBody {
  return { isRepeatable: true, sendTo: (sending) => void sending.end(bytes) }
}
