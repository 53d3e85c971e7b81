import type { Client } from '../interface/client.js'
import type { AppendResult } from '../interface/index.js'
import type { RemoteAppendOptions } from './append.js'

/**
 * The client for programs outside the network: every method except those that need the store or the queue itself
 * (docs/http-operations.md#not-over-http). The client over the queue also implements it, so a program written for this
 * interface runs with either.
 */
export interface RemoteClient extends Omit<Client, 'messages' | 'threads' | 'projects'> {
  readonly messages: Omit<Client['messages'], 'append' | 'producer'> & {
    append(options: RemoteAppendOptions): Promise<AppendResult>
  }
  readonly threads: Omit<Client['threads'], 'waitUntilSettled'>
}
