/** The servers of the queues, and the replication of the store where no standby confirms commits: prefixes of figures. */
export const clusterNames = ['postgres', 'postgres.asynchronous', 'redis.sentinel'] as const
export type ClusterName = (typeof clusterNames)[number]

/** Without the name of the cluster, in the order in which they are printed. */
export const clusterFigureNames = [
  'appends.lost',
  'appends.duplicated',
  'appends.disordered',
  'appends.gaps',
  'appends.acknowledged',
  'appends.away',
  'appends.awayAtFailover',
  'contexts.away',
  'contexts.awayAtFailover',
  'contexts.hung',
  'contexts.late',
  'contexts.untyped',
  'contexts.built',
  'drained',
  'facts.lost',
  'facts.surplus',
  'services.crashed',
  'services.deadLetters',
  'faults.leaderKilled',
  'faults.leaderPartitioned',
  'faults.redisKilled',
  'faults.redisPartitioned',
  'faults.networkSlow',
  'faults.clockJumped',
  'faults.servicesRolled',
  'run.seconds',
] as const
export type ClusterFigureName = (typeof clusterFigureNames)[number]

/** Whether a commit waits for a standby. */
export function isSynchronous(cluster: ClusterName): boolean {
  return cluster !== 'postgres.asynchronous'
}

export function nameOnCluster(figure: string, cluster: ClusterName): string {
  return `${cluster}.${figure}`
}
