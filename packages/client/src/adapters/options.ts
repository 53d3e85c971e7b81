import type { HeddleError } from '@heddle/contracts'
import { createClient } from '../http/client.js'
import type { RemoteClient } from '../http/remote-client.js'

/** The operations that adapters of frameworks use; a client over the queue has them too. */
export type AdapterClient = Pick<RemoteClient, 'recall' | 'search'> & {
  readonly messages: Pick<RemoteClient['messages'], 'append' | 'list' | 'find'>
  readonly contexts: Pick<RemoteClient['contexts'], 'build'>
}

export interface AdapterOptions {
  /** An open client. Default: one over HTTP at `url`. */
  readonly client?: AdapterClient | undefined
  /** The gateway. Default `http://127.0.0.1:4680`. */
  readonly url?: string | undefined
  /** A key of the project; absent if the gateway requires none. */
  readonly key?: string | undefined
  /** Tokens of the messages that a model gets, without its instructions and tools. Default 32,000. */
  readonly budget?: number | undefined
  /** How long a model call waits for Heddle before it goes on without it, in milliseconds. Default 5,000. */
  readonly deadlineMs?: number | undefined
  /**
   * Called once when Heddle stops answering, once when it refuses the key (`UNAUTHORIZED`, `FORBIDDEN`), and once when it refuses
   * a request; again only after a call has succeeded in between. Default: `console.warn`.
   */
  readonly onAway?: ((error: HeddleError) => void) | undefined
  /** The current time in milliseconds. Default `Date.now`. */
  readonly now?: (() => number) | undefined
}

export const BUDGET_DEFAULT = 32_000
export const DEADLINE_MS_DEFAULT = 5_000
const URL_DEFAULT = 'http://127.0.0.1:4680'

export function clientOf({ client, url, key }: Pick<AdapterOptions, 'client' | 'url' | 'key'>): AdapterClient {
  return client ?? createClient({ url: url ?? URL_DEFAULT, ...(key !== undefined && { key }) })
}

/** The origin whose reachability can be checked, of any address of it; null for a client that was given. */
export function addressOf({ client, url }: Pick<AdapterOptions, 'client' | 'url'>): string | null {
  return client === undefined ? new URL(url ?? URL_DEFAULT).origin : null
}
