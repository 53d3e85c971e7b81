import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A request exactly as a server received it. */
export interface WireRequest {
  readonly method: string
  readonly url: string
  /** Names and values alternate. */
  readonly rawHeaders: readonly string[]
  readonly body: Buffer
}

/** Answers a request, of which the body has been read. */
export type WireResponder = (request: WireRequest, response: ServerResponse) => void | Promise<void>

export interface WireServer {
  /** `http://127.0.0.1:1234` */
  readonly url: string
  readonly requests: readonly WireRequest[]
  /** Number of connections that were opened. */
  readonly connections: number
  respond(responder: WireResponder): void
  /** Called for each request before its body is read, which it may leave unread. */
  onArrival(listener: (incoming: IncomingMessage, response: ServerResponse) => void): void
  /** Closes every connection; new ones are accepted. */
  cut(): void
  close(): Promise<void>
}

/** A server that records requests byte for byte, and answers with whatever a test writes. */
export async function startWireServer(first: WireResponder = answerOk): Promise<WireServer> {
  let responder = first
  let arrival: (incoming: IncomingMessage, response: ServerResponse) => void = () => {}
  let connections = 0
  const requests: WireRequest[] = []
  const server = createServer(async (incoming, response) => {
    arrival(incoming, response)
    const parts: Buffer[] = []
    try {
      for await (const part of incoming) parts.push(part as Buffer)
      const { method = '', url = '', rawHeaders } = incoming
      const request = { method, url, rawHeaders, body: Buffer.concat(parts) }
      requests.push(request)
      await responder(request, response)
    } catch {
      response.destroy()
    }
  })
  server.on('connection', () => connections++)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    get connections() {
      return connections
    },
    respond(next) {
      responder = next
    },
    onArrival(listener) {
      arrival = listener
    },
    cut: () => server.closeAllConnections(),
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

function answerOk(_request: WireRequest, response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end('{}')
}
