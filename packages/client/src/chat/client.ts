import type { Client } from '../interface/client.js'

/** What the commands need of a client. */
export type ChatClient = Pick<Client, 'agents' | 'snapshots'>
