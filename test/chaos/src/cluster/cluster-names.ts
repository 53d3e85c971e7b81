/** The servers of the queues: figures have these as their prefix. */
export const clusterNames = ['postgres'] as const
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
  'faults.networkSlow',
  'faults.clockJumped',
  'faults.servicesRolled',
  'run.seconds',
] as const
export type ClusterFigureName = (typeof clusterFigureNames)[number]

export function nameOnCluster(figure: string, cluster: ClusterName): string {
  return `${cluster}.${figure}`
}
