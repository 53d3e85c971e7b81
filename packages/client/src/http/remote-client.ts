import type { Client } from '../interface/client.js'
import type { AppendResult } from '../interface/index.js'
import type { RemoteAppendOptions } from './append.js'

/**
 * The client of programs outside of the network: every method but those that need the store or the queue itself
 * (docs/http-operations.md#not-over-http). The client over the queue is one of these too: what is written against this runs on
 * either.
 */
export interface RemoteClient extends Omit<Client, 'messages' | 'threads' | 'projects'> {
  readonly messages: {
    append(options: RemoteAppendOptions): Promise<AppendResult>
    readonly list: Client['messages']['list']
  }
  readonly threads: Omit<Client['threads'], 'waitUntilSettled'>
}
