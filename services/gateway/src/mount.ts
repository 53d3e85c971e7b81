import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { ProxyMode } from '@heddle/contracts'

/**
 * Another service on the same port. Its requests reach none of the gateway's hooks, parsers, limits and timeouts; it admits
 * callers by the door that it is given.
 */
export interface Mount {
  /** Whether it serves the path of a request. */
  takes(url: string): boolean
  /** Answers a request; never throws. */
  handle(request: IncomingMessage, response: ServerResponse, door: MountDoor): void
  /** Its metrics, in the format of Prometheus. */
  readMetrics(): Promise<string>
}

export interface MountDoor {
  /**
   * Admits a caller by the rules of the gateway, with a key in the header `x-heddle-key`. While the store that knows the keys
   * does not answer within `lateMs`, callers are admitted as they were the last time, and others on this machine without a
   * project.
   */
  enter(request: IncomingMessage, response: ServerResponse, lateMs: number): Promise<MountEntry | MountRefusal>
}

export interface MountEntry {
  /** Null for a caller whose project is not known. */
  readonly project: string | null
  /** The mode of the proxy that the caller's key names. */
  readonly proxyMode?: ProxyMode | undefined
}

export interface MountRefusal {
  readonly status: number
  /** Holds nothing secret. */
  readonly detail: string
  readonly headers: Readonly<Record<string, string>>
}

/** Passes requests to the mount that serves their path, else to the gateway. */
export function withMount(mount: Mount | undefined, door: MountDoor, gateway: RequestListener): RequestListener {
  if (mount === undefined) return gateway
  return (request, response) => {
    if (mount.takes(request.url ?? '')) mount.handle(request, response, door)
    else gateway(request, response)
  }
}
