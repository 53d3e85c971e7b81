import { setTimeout as wait } from 'node:timers/promises'
import type { StageName } from '@heddle/contracts'
import type { Cluster } from './cluster.js'
import { isSynchronous } from './cluster-names.js'
import type { RedisSentinel } from './redis-sentinel.js'
import type { ReplicatedServers } from './replicated-servers.js'
import { restoreNetwork, slowNetwork } from './slowness.js'

export type ClusterFault =
  | 'leader-killed'
  | 'leader-partitioned'
  | 'redis-killed'
  | 'redis-partitioned'
  | 'network-slow'
  | 'clock-jumped'
  | 'services-rolled'

/** The faults of one round, in their order. */
export function faultsOf({ name, redis }: Pick<Cluster, 'name' | 'redis'>): readonly ClusterFault[] {
  if (!isSynchronous(name)) return ['leader-killed', 'leader-partitioned']
  if (redis === null) return ['leader-killed', 'network-slow', 'leader-partitioned', 'clock-jumped', 'services-rolled']
  return ['redis-killed', 'network-slow', 'leader-killed', 'redis-partitioned', 'clock-jumped', 'services-rolled']
}

/** After a leader died, until its host is there again: longer than a new leader takes. */
const DEAD_MS = 15_000
const PARTITIONED_MS = 20_000
const SLOW_MS = 15_000
const JUMPED_MS = 8_000
/** In turn: ahead by a day, behind by an hour. */
const JUMPS_SECONDS = [86_400, -3_600] as const
/** Those whose clock ends up in rows and jobs. */
const CLOCKED: readonly StageName[] = ['ingest', 'assemble', 'summarize']
/** Until a member has caught up with the others. */
const WHOLE_MS_MAX = 120_000

/** Inflicts a fault, ends it, and waits until the cluster is whole again. @param round from 0 */
export async function inflictOnCluster(cluster: Cluster, fault: ClusterFault, round: number): Promise<void> {
  switch (fault) {
    case 'leader-killed':
      return await killLeader(cluster.patroni)
    case 'leader-partitioned':
      return await partitionLeader(cluster.patroni)
    case 'redis-killed':
      return await killLeader(redisOf(cluster))
    case 'redis-partitioned':
      return await partitionLeader(redisOf(cluster))
    case 'network-slow':
      return await slowAll(cluster)
    case 'clock-jumped':
      return await moveClock(cluster, CLOCKED[round % CLOCKED.length] ?? 'ingest', JUMPS_SECONDS[round % 2] ?? 0)
    case 'services-rolled':
      for (const service of cluster.services.all) await service.roll()
  }
}

/** Kills the leaders of the store and of the queues, as the last fault of a run. @returns brings them back */
export async function killAllLeaders({ patroni, redis }: Cluster): Promise<() => Promise<void>> {
  const servers = redis === null ? [patroni] : [patroni, redis]
  const revivals = await Promise.all(servers.map(crashLeader))
  return async () => {
    await Promise.all(revivals.map((revive) => revive()))
  }
}

function redisOf({ redis }: Cluster): RedisSentinel {
  if (redis === null) throw new Error('this cluster has no Redis')
  return redis
}

async function crashLeader(servers: ReplicatedServers): Promise<() => Promise<void>> {
  const leader = await servers.leader()
  await leader.crash()
  return async () => {
    await wait(DEAD_MS)
    servers.start(leader)
    await servers.whenWhole(WHOLE_MS_MAX)
  }
}

async function killLeader(servers: ReplicatedServers): Promise<void> {
  const revive = await crashLeader(servers)
  await revive()
}

async function partitionLeader(servers: ReplicatedServers): Promise<void> {
  const leader = await servers.leader()
  await leader.unplug()
  try {
    await wait(PARTITIONED_MS)
  } finally {
    await leader.plugIn()
  }
  await servers.whenWhole(WHOLE_MS_MAX)
}

async function slowAll({ network, slowness }: Cluster): Promise<void> {
  await Promise.all(network.hosts.map((host) => slowNetwork(host, slowness)))
  try {
    await wait(SLOW_MS)
  } finally {
    await Promise.all(network.hosts.map((host) => restoreNetwork(host, slowness)))
  }
}

async function moveClock({ services }: Cluster, stage: StageName, bySeconds: number): Promise<void> {
  await services.moveClock(stage, bySeconds)
  await wait(JUMPED_MS)
  await services.moveClock(stage, 0)
  await wait(JUMPED_MS)
}
