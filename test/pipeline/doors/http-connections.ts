import { Agent, type IncomingHttpHeaders, request } from 'node:http'

export interface PlainRequest {
  readonly method: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer | undefined
}

export interface PlainAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** For an event stream: its first event. */
  readonly text: string
}

/** Connections that are kept between requests, for very long runs: `fetch` costs several times as much. */
export class Connections {
  readonly #agent: Agent
  readonly #origin: { readonly hostname: string; readonly port: string }

  constructor(url: string, connectionsMax: number) {
    const { hostname, port } = new URL(url)
    this.#origin = { hostname, port }
    this.#agent = new Agent({ keepAlive: true, maxSockets: connectionsMax })
  }

  /** Sends the given bytes unchanged, also those that no client would send. */
  ask({ method, path, headers = {}, body }: PlainRequest): Promise<PlainAnswer> {
    // Node usually omits the length if a method has no body.
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
    return new Promise((resolve, reject) => {
      const options = { agent: this.#agent, ...this.#origin, method, path, headers: { ...headers, ...length } }
      const asked = request(options, (response) => {
        const parts: Buffer[] = []
        const finish = () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text: Buffer.concat(parts).toString(),
          })
        // An event stream has no end; its beginning is its answer.
        const isEndless = response.headers['content-type']?.startsWith('text/event-stream') === true
        response.on('data', (part: Buffer) => {
          parts.push(part)
          if (!isEndless) return
          finish()
          asked.destroy()
        })
        response.once('end', finish).once('error', reject)
      })
      asked.once('error', reject)
      asked.end(body)
    })
  }

  close(): void {
    this.#agent.destroy()
  }
}
