import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ProxyMode } from '@heddle/contracts'

/** Admission of callers by the server that the proxy is mounted in, by the rules of its own routes. */
export interface Door {
  /**
   * Admits a caller before the body is read, within `lateMs`. Callers on this machine are admitted even while the store
   * that knows their keys is away.
   */
  enter(request: IncomingMessage, response: ServerResponse, lateMs: number): Promise<Entry | EntryRefusal>
}

export interface Entry {
  /** Null for a caller whose project is not known: the request is relayed, and nothing is stored. */
  readonly project: string | null
  /** The mode that the caller's key names. */
  readonly proxyMode?: ProxyMode | undefined
}

export interface EntryRefusal {
  readonly status: number
  /** Holds nothing secret. */
  readonly detail: string
  readonly headers?: Readonly<Record<string, string>> | undefined
}
