import { connect, type Socket } from 'node:net'

export interface WireAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}

interface Expected {
  /** An answer to HEAD has no body, whatever its head says. */
  readonly isHead: boolean
  resolve(answer: WireAnswer | null): void
}

const SILENCE_MS_MAX = 120_000

/**
 * One connection that sends bytes unchanged, several requests at once if requested, and separates the answers in
 * order. Node's own client sends only valid HTTP, one request after the other, at several times the cost.
 */
export class Wire {
  readonly #socket: Socket
  readonly #expected: Expected[] = []
  #received: Buffer = Buffer.alloc(0)
  #fault: Error | null = null
  /** Nothing more can be sent: it was closed, or an answer announced the close. */
  isOver = false

  constructor(origin: { readonly hostname: string; readonly port: number }) {
    this.#socket = connect({ host: origin.hostname, port: origin.port, noDelay: true })
    this.#socket.setTimeout(SILENCE_MS_MAX, () => this.#socket.destroy(new Error('the server has fallen silent')))
    this.#socket.on('data', (part) => this.#take(part))
    this.#socket.on('error', (error) => {
      this.#fault ??= error
    })
    this.#socket.on('close', () => this.#over())
  }

  /**
   * Sends requests together.
   *
   * @returns an answer for each; null for those before whose answer the server closed the connection
   * @throws Error if the bytes received are not an answer
   */
  async ask(requests: readonly { readonly bytes: Buffer; readonly isHead: boolean }[]): Promise<(WireAnswer | null)[]> {
    const answers = requests.map(
      ({ isHead }) => new Promise<WireAnswer | null>((resolve) => this.#expected.push({ isHead, resolve })),
    )
    this.#socket.write(Buffer.concat(requests.map(({ bytes }) => bytes)))
    const all = await Promise.all(answers)
    if (this.#fault instanceof NoAnswer) throw this.#fault
    return all
  }

  /** Ends its side of the connection, in the middle of the sent bytes. */
  halfClose(): void {
    this.#socket.end()
  }

  close(): void {
    this.#socket.destroy()
    this.#over()
  }

  #over(): void {
    this.isOver = true
    for (const { resolve } of this.#expected.splice(0)) resolve(null)
  }

  #take(part: Buffer): void {
    this.#received = this.#received.length === 0 ? part : Buffer.concat([this.#received, part])
    try {
      while (this.#expected.length > 0 && this.#takeAnswer()) {}
    } catch (error) {
      this.#fault = error as Error
      this.close()
    }
  }

  /** @returns whether a whole answer was there */
  #takeAnswer(): boolean {
    const received = this.#received
    const headEnds = received.indexOf('\r\n\r\n')
    if (headEnds < 0) return false
    const { status, headers } = readHead(received.toString('latin1', 0, headEnds))
    const bodyStarts = headEnds + 4
    if (status === 100) {
      this.#received = received.subarray(bodyStarts)
      return true
    }
    const isStream = headers['content-type']?.startsWith('text/event-stream') === true
    const isBare = this.#expected[0]?.isHead === true || status === 204 || status === 304
    const body = isBare || isStream ? { text: '', ends: bodyStarts } : readBody(received, bodyStarts, headers)
    if (body === null) return false
    this.#received = received.subarray(body.ends)
    this.#expected.shift()?.resolve({ status, headers, text: body.text })
    if (headers['connection'] === 'close') this.isOver = true
    // An event stream has no end; its beginning is its answer.
    if (isStream) this.close()
    return true
  }
}

class NoAnswer extends Error {
  override name = 'NoAnswer'
}

function readHead(head: string): Pick<WireAnswer, 'status' | 'headers'> {
  const [first = '', ...lines] = head.split('\r\n')
  const status = /^HTTP\/1\.1 (\d{3}) /.exec(first)?.[1]
  if (status === undefined) throw new NoAnswer(`this is no answer: ${JSON.stringify(first.slice(0, 200))}`)
  const headers: Record<string, string> = {}
  for (const line of lines) {
    const colon = line.indexOf(':')
    headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim()
  }
  return { status: Number(status), headers }
}

/** @returns null while it is incomplete */
function readBody(
  received: Buffer,
  starts: number,
  headers: WireAnswer['headers'],
): { text: string; ends: number } | null {
  if (headers['transfer-encoding'] === 'chunked') return readChunks(received, starts)
  const ends = starts + Number(headers['content-length'] ?? 0)
  return received.length < ends ? null : { text: received.toString('utf8', starts, ends), ends }
}

function readChunks(received: Buffer, starts: number): { text: string; ends: number } | null {
  const parts: Buffer[] = []
  for (let at = starts; ; ) {
    const lineEnds = received.indexOf('\r\n', at)
    if (lineEnds < 0) return null
    const size = Number.parseInt(received.toString('latin1', at, lineEnds), 16)
    const next = lineEnds + 2 + size + 2
    if (received.length < next) return null
    if (size === 0) return { text: Buffer.concat(parts).toString('utf8'), ends: next }
    parts.push(received.subarray(lineEnds + 2, lineEnds + 2 + size))
    at = next
  }
}

/** A request as bytes on the wire. Line breaks within it would start another request, and are removed. */
export function bytesOf({
  method,
  path,
  headers,
  body,
}: {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Buffer | undefined
}): Buffer {
  const content = body === undefined ? Buffer.alloc(0) : Buffer.from(body as string)
  const lines = [`${method} ${path} HTTP/1.1`]
  if (headers['host'] === undefined) lines.push('host: 127.0.0.1')
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`)
  if (body !== undefined) lines.push(`content-length: ${content.length}`)
  const head = lines.map((line) => line.replace(/[\r\n\0]/g, '')).join('\r\n')
  return Buffer.concat([Buffer.from(`${head}\r\n\r\n`), content])
}
