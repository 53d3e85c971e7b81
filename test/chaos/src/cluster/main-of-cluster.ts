import { isWanted } from '@heddle/test-support/figure'
import type { Arguments } from '../arguments.js'
import { PrintedFigures } from '../printed-figures.js'
import { type ClusterName, clusterFigureNames, clusterNames, nameOnCluster } from './cluster-names.js'
import { examineMachine } from './requirements.js'
import { runCluster } from './run-cluster.js'

/** `--cluster`: prints the figures of each selected cluster. @returns the exit code */
export async function mainOfCluster(given: Arguments, say: (line: string) => void): Promise<number> {
  const namesOn = (cluster: ClusterName) => clusterFigureNames.map((figure) => nameOnCluster(figure, cluster))
  const wantedOn = (cluster: ClusterName) => namesOn(cluster).filter((name) => isWanted(name, given.only))
  if (given.list) {
    for (const name of clusterNames.flatMap(namesOn)) process.stdout.write(`${name}\n`)
    return 0
  }
  const clusters = clusterNames.filter((cluster) => wantedOn(cluster).length > 0)
  if (clusters.length === 0) {
    say('no figure has such a name; --cluster --list shows them')
    return 2
  }
  const { missing, slowness } = await examineMachine()
  if (missing.length > 0) {
    for (const fault of missing) say(fault)
    return 2
  }
  if (slowness === 'queue')
    say('this kernel has no netem: a slow network is one of little bandwidth that drops packets')
  say(`--seed ${given.seed} brings the same messages again`)
  const figures = new PrintedFigures(say)
  for (const name of clusters) {
    await figures.ofRun(`the run on ${name}`, wantedOn(name), async (print) =>
      (await runCluster({ name, size: given.size, seed: given.seed, slowness, say })).forEach(print),
    )
  }
  return figures.exitCode
}
