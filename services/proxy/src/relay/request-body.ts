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
  #settle: (whole: Buffer | null) => void = () => {}
  /** The whole body; null if it was not kept, or if the caller ended within it. */
  readonly whole = new Promise<Buffer | null>((resolve) => {
    this.#settle = resolve
  })

  constructor(request: IncomingMessage, options: RequestBodyOptions) {
    this.#request = request
    this.#options = options
    request.on('data', (part: Buffer) => this.#take(part))
    request.once('end', () => this.#complete())
    request.once('close', () => this.#settle(null))
    // The response reports that the connection has ended.
    request.on('error', () => {})
  }

  get isRepeatable(): boolean {
    return this.#isKept
  }

  sendTo(sending: ClientRequest): void {
    this.#sending = sending
    sending.on('drain', () => this.#request.resume())
    for (const part of this.#parts) sending.write(part)
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
      this.#settle(null)
      if (this.#sending !== null) this.#parts = []
    }
    if (this.#isKept || this.#sending === null) this.#parts.push(part)
    const isTaken = this.#sending?.write(part) ?? this.#isKept
    if (!isTaken) this.#request.pause()
  }

  #complete(): void {
    this.#isComplete = true
    if (this.#isKept) {
      const whole = Buffer.concat(this.#parts)
      // One copy is enough, also to send it again.
      this.#parts = [whole]
      this.#settle(whole)
    }
    this.#sending?.end()
  }
}

/** A body other than the caller's. */
export function bodyOf(bytes: Uint8Array): SentBody {
  return { isRepeatable: true, sendTo: (sending) => void sending.end(bytes) }
}
