import { setTimeout as wait } from 'node:timers/promises'
import type { StageName } from '@heddle/contracts'
import type { Cluster } from './cluster.js'
import { restoreNetwork, slowNetwork } from './slowness.js'

export const clusterFaults = [
  'leader-killed',
  'network-slow',
  'leader-partitioned',
  'clock-jumped',
  'services-rolled',
] as const
export type ClusterFault = (typeof clusterFaults)[number]

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
      return await killLeader(cluster)
    case 'leader-partitioned':
      return await partitionLeader(cluster)
    case 'network-slow':
      return await slowAll(cluster)
    case 'clock-jumped':
      return await moveClock(cluster, CLOCKED[round % CLOCKED.length] ?? 'ingest', JUMPS_SECONDS[round % 2] ?? 0)
    case 'services-rolled':
      for (const service of cluster.services.all) await service.roll()
  }
}

/** Resolves with the death of the leader, for the last fault of a run. @returns the end of its absence */
export async function killLeaderNow({ patroni }: Cluster): Promise<() => Promise<void>> {
  const leader = await patroni.leader()
  await leader.crash()
  return async () => {
    await wait(DEAD_MS)
    patroni.start(leader)
    await patroni.whenWhole(WHOLE_MS_MAX)
  }
}

async function killLeader(cluster: Cluster): Promise<void> {
  const bringBack = await killLeaderNow(cluster)
  await bringBack()
}

async function partitionLeader({ patroni }: Cluster): Promise<void> {
  const leader = await patroni.leader()
  await leader.unplug()
  try {
    await wait(PARTITIONED_MS)
  } finally {
    await leader.plugIn()
  }
  await patroni.whenWhole(WHOLE_MS_MAX)
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
