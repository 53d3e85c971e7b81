import type { Client } from '../interface/client.js'
import type { RemoteAppendOptions } from './append.js'

/**
 * What programs outside of the network do with Heddle. The client over the queue is one of these too: what is written
 * against this runs on either.
 */
export interface RemoteClient {
  readonly messages: {
    append(options: RemoteAppendOptions): ReturnType<Client['messages']['append']>
    readonly list: Client['messages']['list']
  }
  readonly contexts: Pick<Client['contexts'], 'build' | 'get' | 'list' | 'at' | 'diff' | 'order' | 'find' | 'subscribe'>
  readonly threads: Pick<Client['threads'], 'list' | 'get' | 'put' | 'delete'>
  readonly processes: Client['processes']
  readonly iterations: Pick<Client['iterations'], 'append' | 'list'>
  readonly agents: Pick<Client['agents'], 'put' | 'get' | 'list' | 'clear'>
  readonly snapshots: Client['snapshots']
  readonly items: Client['items']
  readonly recall: Client['recall']
  readonly search: Client['search']
  readonly events: Client['events']
  readonly archive: Client['archive']
}
