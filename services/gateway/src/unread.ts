import { randomUUID } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { ErrorData } from '@heddle/contracts'
import { problemOf, Refused, refusalOf } from './problems.js'

/** What came over a connection was no request of HTTP, or not all of one: no route and no hook has seen it. */
export function refuseUnread(error: Error & { readonly code?: string }, socket: Socket): void {
  // Who broke the connection cannot be told anything.
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy(error)
    return
  }
  const requestId = randomUUID()
  const refusal = refusalOf(refusedOf(error.code))
  const body = JSON.stringify(problemOf(refusal, requestId))
  const head = [
    `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}`,
    'content-type: application/problem+json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    `x-request-id: ${requestId}`,
    'connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
}

function refusedOf(code: string | undefined): Refused {
  const [status, detail]: [number, string] =
    code === 'ERR_HTTP_REQUEST_TIMEOUT'
      ? [408, 'the request took too long to arrive']
      : code === 'HPE_HEADER_OVERFLOW'
        ? [431, 'the headers are larger than 16 KiB']
        : [400, 'this is no request of HTTP/1.1']
  const data: ErrorData = { code: status === 408 ? 'TIMEOUT' : 'VALIDATION_ERROR', detail }
  return new Refused(data, { status })
}
