import type { Client } from '@heddle/client/interface'

/** What the commands need of a client. */
export type ChatClient = Pick<Client, 'agents' | 'snapshots'>
