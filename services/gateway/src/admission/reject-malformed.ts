import { randomUUID } from 'node:crypto'
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import type { ErrorData } from '@heddle/contracts'
import { problemOf, Refused, refusalOf } from '../http/problems.js'

/** What came over a connection was no request of HTTP, or not all of one: no route and no hook has seen it. */
export function rejectMalformed(error: Error & { readonly code?: string }, socket: Duplex): void {
  // Who broke the connection cannot be told anything.
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy(error)
    return
  }
  refuseOn(socket, refusedOf(error.code))
}

/** What Node would answer by itself, with a bare status or with nothing at all. */
export function rejectOddRequests(server: Server): void {
  server.on('connect', (_request: IncomingMessage, socket: Duplex) => {
    // Whoever asks for a tunnel goes away without waiting now and then, or stays: Node has let go of the socket, and no bound of
    // its own would end it.
    socket.on('error', () => {})
    socket.once('finish', () => socket.destroy())
    refuseOn(socket, refused(405, 'method: this server is no proxy', 'method'))
  })
  server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    const { status, headers, body } = answerOf(refused(417, 'expect: only 100-continue is known', 'expect'))
    response.writeHead(status, headers).end(body)
  })
}

function refuseOn(socket: Duplex, refusal: Refused): void {
  const { status, headers, body } = answerOf(refusal)
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  const head = [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
}

function answerOf(refused: Refused): { status: number; headers: Record<string, string>; body: string } {
  const requestId = randomUUID()
  const refusal = refusalOf(refused)
  const body = JSON.stringify(problemOf(refusal, requestId))
  const headers = {
    'content-type': 'application/problem+json; charset=utf-8',
    'content-length': String(Buffer.byteLength(body)),
    'x-request-id': requestId,
    connection: 'close',
    ...(refusal.status === 405 && { allow: 'GET, POST, PUT, DELETE' }),
  }
  return { status: refusal.status, headers, body }
}

function refusedOf(code: string | undefined): Refused {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return refused(408, 'the request took too long to arrive')
  if (code === 'HPE_HEADER_OVERFLOW') return refused(431, 'the headers are larger than 16 KiB')
  return refused(400, 'this is no request of HTTP/1.1')
}

function refused(status: number, detail: string, field?: string): Refused {
  const code: ErrorData['code'] = status === 408 ? 'TIMEOUT' : 'VALIDATION_ERROR'
  return new Refused({ code, detail, field }, { status })
}
