import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http'
import type { Target } from '../routes/target.js'
import type { Connections } from './connections.js'
import { sendError } from './errors.js'
import { headersForCaller } from './headers.js'
import type { SentBody } from './request-body.js'

export interface Relayed {
  readonly target: Target
  readonly method: string
  /** For the upstream: names and values alternate. */
  readonly headers: readonly string[]
  readonly body: SentBody
  /** Called once with the head of the reply. @returns headers to add to it */
  onHead?(reply: IncomingMessage): Readonly<Record<string, string>>
  /** Takes a reply instead of having it relayed, with the headers for the caller. @returns false if it is relayed */
  takeReply?(reply: IncomingMessage, headers: readonly string[]): boolean
  /** Called with each part of the reply as it is relayed. */
  onBytes?(bytes: Buffer): void
  /** Called once, when nothing further is relayed. */
  onEnd?(end: RelayEnd): void
}

/** `whole`: the caller has the whole reply. `unreachable`: there was no reply. `cut`: one side ended within it. */
export type RelayEnd = 'whole' | 'unreachable' | 'cut'

/**
 * Sends a request to its upstream and relays the reply byte for byte as it arrives, at the pace of the slower side. If either
 * side ends early, so does the other.
 */
export function relay(connections: Connections, response: ServerResponse, relayed: Relayed): void {
  const { target, method, headers, body } = relayed
  let isEnded = false
  let current: ClientRequest | null = null
  const end = (how: RelayEnd) => {
    if (isEnded) return
    isEnded = true
    relayed.onEnd?.(how)
  }
  response.once('close', () => {
    current?.destroy()
    end(response.writableFinished ? 'whole' : 'cut')
  })
  send(false)

  function send(isFresh: boolean): void {
    const sending = connections.open(target, { method, headers, isFresh })
    let hasReply = false
    current = sending
    sending.once('response', (reply: IncomingMessage) => {
      hasReply = true
      relayReply(reply)
    })
    sending.on('error', (error: NodeJS.ErrnoException) => {
      // After the head, the reply itself reports its end; an upstream may answer before it has read the body.
      if (hasReply || response.destroyed) return
      if (isStale(sending, error) && body.isRepeatable && !isFresh) send(true)
      else refuse(error)
    })
    body.sendTo(sending)
  }

  function relayReply(reply: IncomingMessage): void {
    const own = relayed.onHead?.(reply) ?? {}
    // The upstream's own date is relayed.
    response.sendDate = false
    const headersSent = headersForCaller(reply.rawHeaders, own)
    if (relayed.takeReply?.(reply, headersSent) === true) return
    response.writeHead(reply.statusCode ?? 502, reply.statusMessage ?? '', headersSent)
    // The head is sent at once, and in one write with what came together with it: a second write wakes the caller a second time.
    response.cork()
    response.flushHeaders()
    const { onBytes } = relayed
    if (onBytes !== undefined) reply.on('data', (bytes: Buffer) => onBytes(bytes))
    // A reply that was cut off is cut off for the caller, too. (`pipeline` would add more listeners than Node accepts silently.)
    reply.once('close', () => {
      if (!reply.complete) response.destroy()
    })
    reply.on('error', () => {})
    reply.pipe(response)
    process.nextTick(() => response.uncork())
  }

  function refuse({ code }: NodeJS.ErrnoException): void {
    sendError(response, target.upstream.protocol, {
      status: 502,
      code: 'upstream_unreachable',
      message: `Heddle could not reach the upstream "${target.upstream.name}"${code === undefined ? '' : ` (${code})`}.`,
    })
    end('unreachable')
  }
}

/** The upstream closed an idle connection at the moment in which it was used again: it has read nothing of the request. */
function isStale(sending: ClientRequest, { code }: NodeJS.ErrnoException): boolean {
  return sending.reusedSocket && (code === 'ECONNRESET' || code === 'EPIPE')
}
