import type { Client } from '@heddle/client/interface'

/** The parts of a client that the commands use. */
export type ChatClient = Pick<Client, 'agents' | 'snapshots'>
