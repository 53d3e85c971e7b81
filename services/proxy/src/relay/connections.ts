import { type ClientRequest, Agent as HttpAgent, request as httpRequest } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import type { Target } from '../routes/target.js'

/** Idle connections kept for each upstream: as many as conversations usually wait for their tools at once. */
const IDLE_MAX = 256

/** The connections to all upstreams, kept between requests: a handshake takes longer than everything the proxy does. */
export class Connections {
  readonly #plain = new HttpAgent({ keepAlive: true, maxFreeSockets: IDLE_MAX, scheduling: 'lifo' })
  readonly #secure = new HttpsAgent({ keepAlive: true, maxFreeSockets: IDLE_MAX, scheduling: 'lifo' })

  /** Starts a request. It has no timeout: a model may think for many minutes, and callers have timeouts of their own. */
  open({ upstream, path }: Target, sent: SentRequest): ClientRequest {
    const { hostname, port, isSecure } = upstream
    const send = isSecure ? httpsRequest : httpRequest
    const agent = sent.isFresh ? false : isSecure ? this.#secure : this.#plain
    // A list is sent as it is, while an object would lose order and repetitions.
    return send({ hostname, port, path, method: sent.method, headers: sent.headers as string[], agent })
  }

  close(): void {
    this.#plain.destroy()
    this.#secure.destroy()
  }
}

export interface SentRequest {
  readonly method: string
  /** Names and values alternate. */
  readonly headers: readonly string[]
  /** On a connection of its own. */
  readonly isFresh: boolean
}
