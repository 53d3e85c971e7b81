import { once } from 'node:events'
import type { Client } from '@heddle/client/interface'
import { createClient, DirectAppends } from '@heddle/engine'
import { openQueues } from '@heddle/queue'
import { createLogger, systemClock } from '@heddle/runtime'
import { openStore } from '@heddle/store'
import { logLevel, type Place, PROJECT } from './place.js'

const CONNECTIONS_MAX = 4

export interface UserPlace extends Place {
  /** Whether the user commits small appends itself, as the SDK does; else all go through the queue. */
  readonly isDirect: boolean
}

/**
 * Turns this process into a user of the pipeline: it gets the addresses, connects and reports `ready`; at the start signal, it
 * works and reports `finished`.
 */
export function takePart<Order extends UserPlace>(
  name: string,
  work: (client: Client, order: Order) => Promise<void>,
): void {
  // The channel also closes when the parent was killed.
  process.on('disconnect', () => process.exit())
  process.once('message', (order: Order) => void start(name, order, work))
}

async function start<Order extends UserPlace>(
  name: string,
  order: Order,
  work: (client: Client, order: Order) => Promise<void>,
): Promise<void> {
  const log = createLogger({ level: logLevel, name })
  const store = openStore({ url: order.databaseUrl, connectionsMax: CONNECTIONS_MAX })
  const queues = await openQueues({ backend: order.queue, prefix: order.prefix, log, create: true })
  const directAppends = order.isDirect ? new DirectAppends({ store, queues, clock: systemClock, log }) : null
  const client = createClient({ store, queues, project: PROJECT, log, directAppends })
  process.send?.('ready')
  await once(process, 'message')
  await work(client, order)
  await directAppends?.close()
  process.send?.('finished')
}
