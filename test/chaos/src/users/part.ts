import { once } from 'node:events'
import { createClient as createHttpClient } from '@heddle/client/http'
import { createClient, DirectAppends } from '@heddle/engine'
import { openQueues } from '@heddle/queue'
import { createLogger, systemClock } from '@heddle/runtime'
import { openStore } from '@heddle/store'
import { logLevel, type Place, PROJECT } from '../place.js'
import { connectWithVersion, type VersionPlace } from '../rolling/versioned-client.js'
import type { Connected, UserClient } from './user-client.js'

const CONNECTIONS_MAX = 4

/** A user over the queue, over HTTP, or over either with the SDK of another version. */
export type UserPlace = QueuePlace | GatewayPlace | VersionPlace

export interface QueuePlace extends Place {
  /** Whether the user commits small appends itself, as the SDK does; else all go through the queue. */
  readonly isDirect: boolean
}

export interface GatewayPlace {
  readonly seed: number
  readonly gateway: { readonly url: string; readonly key: string }
}

/**
 * Turns this process into a user of the pipeline: it gets the addresses, connects and reports `ready`; at the start signal, it
 * works and reports `finished`.
 */
export function takePart<Order extends UserPlace>(
  name: string,
  work: (client: UserClient, order: Order) => Promise<void>,
): void {
  // The channel also closes when the parent was killed.
  process.on('disconnect', () => process.exit())
  process.once('message', (order: Order) => void start(name, order, work))
}

async function start<Order extends UserPlace>(
  name: string,
  order: Order,
  work: (client: UserClient, order: Order) => Promise<void>,
): Promise<void> {
  const { client, close } = await open(name, order)
  process.send?.('ready')
  await once(process, 'message')
  await work(client, order)
  await close()
  process.send?.('finished')
}

async function open(name: string, order: UserPlace): Promise<Connected> {
  if ('gateway' in order) return connectOver(order)
  return 'version' in order ? await connectWithVersion(order) : await connectTo(name, order)
}

function connectOver({ gateway }: GatewayPlace): Connected {
  return { client: createHttpClient(gateway), close: async () => {} }
}

async function connectTo(name: string, order: QueuePlace): Promise<Connected> {
  const log = createLogger({ level: logLevel, name })
  const store = openStore({ url: order.databaseUrl, connectionsMax: CONNECTIONS_MAX })
  const queues = await openQueues({ backend: order.queue, prefix: order.prefix, log, create: true })
  const directAppends = order.isDirect ? new DirectAppends({ store, queues, clock: systemClock, log }) : null
  const client = createClient({ store, queues, project: PROJECT, log, directAppends })
  return { client, close: async () => await directAppends?.close() }
}
