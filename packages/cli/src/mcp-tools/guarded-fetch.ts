import { type LookupAddress, promises as names } from 'node:dns'
import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { type HeddleError, PermanentError } from '@heddle/contracts'
import { isPublicAddress } from './addresses.js'
import { toolListLimits } from './limits.js'

export interface GuardedFetchOptions {
  readonly allowPrivate: boolean
  /** Called with the error that cut an answer: the MCP SDK may not pass it on to its caller. */
  readonly onRefused: (error: HeddleError) => void
  /** Resolves a name to all of its addresses. Default: by the system. */
  readonly resolve?: (host: string) => Promise<readonly LookupAddress[]>
}

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>

/**
 * A fetch that refuses private addresses unless allowed. The address is checked when the connection is made and not before,
 * because a second look-up of a name may return another address. It follows no redirects, and answers have a size limit. The
 * global fetch allows no such check.
 */
export function guardedFetch(options: GuardedFetchOptions): Fetch {
  return async (input, init = {}) => {
    const url = new URL(input)
    const host = url.hostname.replace(/^\[|\]$/g, '')
    // Literal addresses bypass the look-up, so they are checked here.
    if (!options.allowPrivate && isIP(host) !== 0 && !isPublicAddress(host)) throw privateAddress(host)
    const incoming = await answerTo(url, init, guardedLookup(options))
    const { statusCode: status = 0 } = incoming
    const hasBody = ![204, 205, 304].includes(status)
    if (!hasBody) incoming.resume()
    const headers = new Headers()
    for (const [name, values] of Object.entries(incoming.headersDistinct))
      for (const value of values ?? []) headers.append(name, value)
    return new Response(hasBody ? bounded(incoming, options.onRefused) : null, { status, headers })
  }
}

function answerTo(url: URL, init: RequestInit, lookup: LookupFunction): Promise<IncomingMessage> {
  const request = url.protocol === 'https:' ? requestHttps : requestHttp
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      {
        method: init.method ?? 'GET',
        headers: Object.fromEntries(new Headers(init.headers)),
        lookup,
        // A new connection: a pooled one may have been opened without the check.
        agent: false,
        ...(init.signal && { signal: init.signal }),
      },
      resolve,
    )
    sent.once('error', reject)
    sent.end(typeof init.body === 'string' ? init.body : undefined)
  })
}

function guardedLookup({ allowPrivate, resolve }: GuardedFetchOptions): LookupFunction {
  return (host, options, done) => {
    const found = resolve?.(host) ?? names.lookup(host, { all: true })
    found.then(
      (addresses) => {
        // One private address among public ones is refused, too, because any of them may be used.
        const [first] = addresses
        if (first === undefined) return done(new Error('the name has no address'), [])
        if (!allowPrivate && !addresses.every(({ address }) => isPublicAddress(address)))
          return done(privateAddress(host), [])
        return options.all === true ? done(null, [...addresses]) : done(null, first.address, first.family)
      },
      (error: NodeJS.ErrnoException) => done(error, []),
    )
  }
}

function privateAddress(host: string): PermanentError {
  return new PermanentError('FORBIDDEN', `url: "${host}" is or resolves to a private address`, {
    field: 'url',
    received: host,
    hint: 'Give --allow-private if the server runs on this machine or in this network.',
  })
}

function bounded(incoming: IncomingMessage, onRefused: (error: HeddleError) => void): ReadableStream<Uint8Array> {
  async function* parts() {
    let bytes = 0
    for await (const part of incoming) {
      bytes += part.length
      if (bytes > toolListLimits.answerBytesMax) {
        const error = tooLargeAnswer()
        onRefused(error)
        throw error
      }
      yield part
    }
  }
  return ReadableStream.from(parts())
}

export function tooLargeAnswer(): PermanentError {
  return new PermanentError(
    'PAYLOAD_TOO_LARGE',
    `an answer of the MCP server has more than ${toolListLimits.answerBytesMax} bytes`,
    { field: 'server', hint: 'Nothing was stored. Configure the server to list fewer or smaller tools per page.' },
  )
}
