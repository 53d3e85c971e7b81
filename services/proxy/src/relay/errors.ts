import type { ServerResponse } from 'node:http'
import type { UpstreamProtocol } from '../routes/upstreams.js'

/** An error of the proxy itself, which has no reply of the upstream to relay. */
export interface ProxyError {
  readonly status: number
  /** A stable word for programs, such as `upstream_unreachable`. */
  readonly code: string
  /** For people; holds nothing that the caller sent. */
  readonly message: string
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** Anthropic's names of errors, by status. */
const anthropicTypes: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
}

/** Answers in the form of the provider's own errors, so that its packages read it as one of them. */
export function sendError(response: ServerResponse, protocol: UpstreamProtocol, error: ProxyError): void {
  if (response.headersSent || response.destroyed) {
    response.destroy()
    return
  }
  const body = JSON.stringify(protocol === 'anthropic' ? anthropicError(error) : openAiError(error))
  response.writeHead(error.status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'x-heddle-error': error.code,
    ...error.headers,
    // The rest of the body is not read.
    connection: 'close',
  })
  response.end(body)
}

function anthropicError({ status, message }: ProxyError): object {
  return { type: 'error', error: { type: anthropicTypes[status] ?? 'api_error', message } }
}

function openAiError({ status, code, message }: ProxyError): object {
  const type = status < 500 ? 'invalid_request_error' : 'server_error'
  return { error: { message, type, param: null, code } }
}
