import type { ClientRequest, Agent as HttpAgent, IncomingMessage, RequestOptions } from 'node:http'
import type { Incoming, Outgoing, Send } from './send.js'

/** Other runtimes may load this file too, and only have `fetch`. */
const isNode = typeof process !== 'undefined' && typeof process.versions?.node === 'string'

/** Undefined: the `fetch` of the platform. `page-send.ts` replaces this file in builds for pages. */
export const platformSend: Send | undefined = isNode ? sendByNode : undefined

interface Protocol {
  request(url: URL, options: RequestOptions, answered: (response: IncomingMessage) => void): ClientRequest
  readonly agent: HttpAgent
}

const protocols = new Map<string, Promise<Protocol>>()

/**
 * Sends over persistent connections, and reads the answer whole. On Node it takes half of the time of `fetch`, whose
 * streams cost more than a small answer. Redirects are not followed.
 */
async function sendByNode(url: URL, outgoing: Outgoing): Promise<Incoming> {
  const known = protocols.get(url.protocol) ?? openProtocol(url.protocol)
  protocols.set(url.protocol, known)
  const { request, agent } = await known
  const { method, headers, body, signal } = outgoing
  signal.throwIfAborted()
  return await new Promise<Incoming>((resolve, reject) => {
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
    const sent = request(url, { method, agent, headers: { ...headers, ...length } }, (response) => {
      readWhole(response).then(resolve, reject)
    })
    const onAbort = () => sent.destroy(signal.reason)
    signal.addEventListener('abort', onAbort, { once: true })
    sent.once('close', () => signal.removeEventListener('abort', onAbort))
    sent.once('error', reject)
    sent.end(body)
  })
}

/** Loaded on first use: bundles for pages do not need it. */
async function openProtocol(protocol: string): Promise<Protocol> {
  const { request, Agent } = protocol === 'https:' ? await import('node:https') : await import('node:http')
  // Idle connections do not keep the process alive.
  return { request, agent: new Agent({ keepAlive: true, scheduling: 'lifo' }) }
}

async function readWhole(response: IncomingMessage): Promise<Incoming> {
  const parts: Buffer[] = []
  for await (const part of response) parts.push(part)
  const status = response.statusCode ?? 0
  return {
    status,
    ok: status >= 200 && status <= 299,
    headers: {
      get(name) {
        const value = response.headers[name]
        return value === undefined ? null : String(value)
      },
    },
    text: async () => Buffer.concat(parts).toString('utf8'),
  }
}
