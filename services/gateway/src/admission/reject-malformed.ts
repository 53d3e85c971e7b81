import { randomUUID } from 'node:crypto'
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import type { ErrorData } from '@heddle/contracts'
import { problemOf, Refused, refusalOf } from '../http/problems.js'

/** Answers malformed or incomplete HTTP requests, which reach no route and no hook. */
export function rejectMalformed(error: Error & { readonly code?: string }, socket: Duplex): void {
  // A broken connection cannot be answered.
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy(error)
    return
  }
  refuseOn(socket, refusedOf(error.code))
}

/** Refuses requests that Node would answer with a bare status or not at all. */
export function rejectOddRequests(server: Server): void {
  server.on('connect', (_request: IncomingMessage, socket: Duplex) => {
    // A client that sends CONNECT may disconnect early or stay. Node has detached the socket, so no timeout of the server
    // applies to it.
    socket.on('error', () => {})
    socket.once('finish', () => socket.destroy())
    refuseOn(socket, refused(405, 'method: this server is not a proxy', 'method'))
  })
  server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    const { status, headers, body } = answerOf(refused(417, 'expect: only 100-continue is supported', 'expect'))
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
  return refused(400, 'this is not an HTTP/1.1 request')
}

function refused(status: number, detail: string, field?: string): Refused {
  const code: ErrorData['code'] = status === 408 ? 'TIMEOUT' : 'VALIDATION_ERROR'
  return new Refused({ code, detail, field }, { status })
}
