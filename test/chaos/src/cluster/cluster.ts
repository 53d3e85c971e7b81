import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stageNames } from '@heddle/contracts'
import { createClient } from '@heddle/engine'
import { migrateQueues } from '@heddle/queue'
import { migrate, openStore } from '@heddle/store'
import { closeLater } from '@heddle/test-support/closing'
import { onPostgres } from '@heddle/test-support/servers/queue-server'
import { PROJECT } from '../place.js'
import { AGENT, agentSettings } from '../production.js'
import type { GatewayPlace } from '../users/part.js'
import { type ClusterName, isSynchronous } from './cluster-names.js'
import { startEtcd } from './etcd.js'
import { GATEWAY_PORT, startHaproxy } from './haproxy.js'
import type { Host } from './host.js'
import { Network } from './network.js'
import { Patroni, POSTGRES_PORT, SUPERUSER } from './patroni.js'
import { PGBOUNCER_PORT, startPgbouncer } from './pgbouncer.js'
import { RedisSentinel } from './redis-sentinel.js'
import { prepareClocks, Services, stageHosts } from './services.js'
import type { Slowness } from './slowness.js'

export interface Cluster {
  readonly name: ClusterName
  readonly network: Network
  /** How this kernel slows a network down. */
  readonly slowness: Slowness
  readonly patroni: Patroni
  /** Null if the queues are in Postgres. */
  readonly redis: RedisSentinel | null
  readonly services: Services
  /** The address of the leader, as its superuser. */
  readonly databaseUrl: string
  readonly gateway: GatewayPlace['gateway']
}

export interface ClusterOptions {
  readonly name: ClusterName
  readonly slowness: Slowness
  readonly say: (line: string) => void
}

const DATABASE = 'heddle'
const PREFIX = 'heddle'
const LOGIN = { name: 'heddle_app', password: 'services' } as const

/** Hosts for everything that one installation consists of, each in a network namespace. `closeAll` removes them. */
export async function openCluster({ name, slowness, say }: ClusterOptions): Promise<Cluster> {
  const folder = await mkdtemp(join(tmpdir(), 'heddle-cluster-'))
  closeLater(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  // Postgres runs as another user.
  await chmod(folder, 0o755)
  const network = new Network(folder)
  await network.open()
  const addHosts = async (...labels: string[]) => {
    const hosts: Host[] = []
    for (const label of labels) hosts.push(await network.addHost(label))
    return hosts
  }
  const etcdHosts = await addHosts('etcd1', 'etcd2', 'etcd3')
  const postgresHosts = await addHosts('postgres1', 'postgres2', 'postgres3')
  const [haproxy, pgbouncer] = (await addHosts('haproxy', 'pgbouncer')) as [Host, Host]
  const redisHosts = name === 'redis.sentinel' ? await addHosts('redis1', 'redis2', 'redis3') : []
  const gateways = await addHosts('gateway1', 'gateway2')
  const stages = stageHosts(await addHosts(...stageNames))

  say(`starting a cluster of ${network.hosts.length} hosts in ${folder}`)
  const patroni = new Patroni({
    hosts: postgresHosts,
    etcd: await startEtcd(etcdHosts),
    isSynchronous: isSynchronous(name),
  })
  await patroni.open()
  await startHaproxy(haproxy, { postgres: postgresHosts, gateways })
  const server = `${haproxy.address}:${POSTGRES_PORT}`
  const addressFor = ({ name, password }: typeof LOGIN | typeof SUPERUSER, place: string, database = DATABASE) =>
    `postgres://${name}:${password}@${place}/${database}`
  const databaseUrl = addressFor(SUPERUSER, server)
  const adminUrl = addressFor(SUPERUSER, server, 'postgres')
  await onPostgres(adminUrl, `create database ${DATABASE}`)
  await migrate({ url: databaseUrl })
  const redis = redisHosts.length === 0 ? null : new RedisSentinel(redisHosts)
  await redis?.open()
  if (redis === null) await migrateQueues({ url: databaseUrl, prefix: PREFIX, grantTo: LOGIN.name })
  await onPostgres(databaseUrl, `alter role ${LOGIN.name} login password '${LOGIN.password}'`)
  await startPgbouncer(pgbouncer, { leader: haproxy.address, database: DATABASE, login: LOGIN })
  const key = await prepare(databaseUrl)

  await prepareClocks(stages)
  const env = {
    DATABASE_URL: `${addressFor(LOGIN, `${pgbouncer.address}:${PGBOUNCER_PORT}`)}?prepare=false`,
    HEDDLE_DIRECT_DATABASE_URL: addressFor(LOGIN, server),
    HEDDLE_QUEUE_PREFIX: PREFIX,
    ...(redis !== null && { REDIS_URL: redis.url }),
  }
  const services = new Services({ gateways, stages, env, door: haproxy.address, say })
  await services.whenReady()
  say('all services of the cluster are ready')
  return {
    name,
    network,
    slowness,
    patroni,
    redis,
    services,
    databaseUrl,
    gateway: { url: `http://${haproxy.address}:${GATEWAY_PORT}`, key },
  }
}

/** Creates the agent. @returns a key for its users */
async function prepare(databaseUrl: string): Promise<string> {
  const store = openStore({ url: databaseUrl, connectionsMax: 1 })
  try {
    const client = createClient({ store, queues: null, project: PROJECT })
    await client.agents.put(AGENT, { settings: agentSettings })
    return (await client.keys.create({ name: 'chaos', role: 'admin' })).key
  } finally {
    await store.close()
  }
}
