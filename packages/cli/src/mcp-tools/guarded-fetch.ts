import { type LookupAddress, promises as names } from 'node:dns'
import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { type HeddleError, PermanentError } from '@heddle/contracts'
import { isPublicAddress } from './addresses.js'
import { toolListLimits } from './limits.js'

export interface GuardedFetchOptions {
  readonly allowPrivate: boolean
  /** Called with what ends an answer half-way: who waits for it may not learn of it otherwise. */
  readonly onRefused: (error: HeddleError) => void
  /** All addresses of a name. Default: as the system resolves it. */
  readonly resolve?: (host: string) => Promise<readonly LookupAddress[]>
}

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>

/**
 * A fetch that reaches no private address without leave. The address is checked where the connection is made and not before:
 * a name that is looked up twice may have another address the second time. It follows no redirect, and an answer has a bound.
 * The global fetch has no place for such a check.
 */
export function guardedFetch(options: GuardedFetchOptions): Fetch {
  return async (input, init = {}) => {
    const url = new URL(input)
    const host = url.hostname.replace(/^\[|\]$/g, '')
    // A literal address is never looked up.
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
        // A connection of its own: one from a pool was made under other rules.
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
        // One private address among public ones is refused as well: which of them is used is chance.
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
  return new PermanentError('FORBIDDEN', `url: "${host}" leads to a private address`, {
    field: 'url',
    received: host,
    hint: 'Give --allow-private if the server is meant to be on this machine or in this network.',
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
    { field: 'server', hint: 'Nothing was stored. Let the server list fewer tools at once, or smaller ones.' },
  )
}
