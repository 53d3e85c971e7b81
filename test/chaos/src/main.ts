import { randomInt } from 'node:crypto'
import { createLogger, onShutdown } from '@heddle/runtime'
import { closeAll } from '@heddle/test-support/closing'
import { isWanted } from '@heddle/test-support/figure'
import { type Arguments, help, readArguments } from './arguments.js'
import { mainOfCluster } from './cluster/main-of-cluster.js'
import { coreFigureNames, runCore } from './core.js'
import { figureNames, nameOn } from './figures.js'
import { PrintedFigures } from './printed-figures.js'
import { proofNames, prove } from './prove.js'
import { mainOfRolling } from './rolling/main-of-rolling.js'
import { run } from './run.js'
import { type BackendName, backendNames } from './servers.js'

/** A stopped run removes its servers within this time: a Postgres that stops flushes all its data to the disk. */
const CLOSE_MS_MAX = 60_000
const SEED_MAX = 2_147_483_647

/**
 * Prints one line of JSON for each figure, as soon as its run is over; progress goes to standard error. Exit code 0
 * when all selected figures pass, 1 when one does not or a run failed, 2 for wrong arguments.
 */
async function main(): Promise<number> {
  let given: Arguments
  try {
    given = readArguments(process.argv.slice(2), randomInt(SEED_MAX))
  } catch (error) {
    say(error instanceof Error ? error.message : String(error))
    return 2
  }
  if (given.help) {
    process.stdout.write(help)
    return 0
  }
  const { rolling } = given
  if (rolling !== null) return await mainOfRolling({ ...given, rolling }, say)
  if (given.cluster) return await mainOfCluster(given, say)
  const ownNames = given.prove ? proofNames : figureNames
  const namesOn = (backend: BackendName) => ownNames.map((name) => nameOn(name, backend))
  const wantedOn = (backend: BackendName) => namesOn(backend).filter((name) => isWanted(name, given.only))
  const coreNames = given.prove ? [] : coreFigureNames
  const wantedOfCore: readonly string[] = coreNames.filter((name) => isWanted(name, given.only))
  if (given.list) {
    for (const name of [...coreNames, ...backendNames.flatMap(namesOn)]) process.stdout.write(`${name}\n`)
    return 0
  }
  const backends = backendNames.filter((backend) => wantedOn(backend).length > 0)
  if (backends.length === 0 && wantedOfCore.length === 0) {
    say('no figure has such a name; --list shows them')
    return 2
  }
  say(`--seed ${given.seed} brings the same faults again`)
  const figures = new PrintedFigures(say)
  if (wantedOfCore.length > 0) {
    await figures.ofRun('the run of core', wantedOfCore, (print) =>
      runCore({ rounds: given.size.coreRounds, seed: given.seed, say }).forEach(print),
    )
  }
  for (const backend of backends) {
    const wanted = wantedOn(backend)
    await figures.ofRun(`the run on ${backend}`, wanted, async (print) => {
      if (given.prove) await prove(backend, wanted, given.seed, print, say)
      else (await run({ ...given, backend, say })).forEach(print)
    })
  }
  return figures.exitCode
}

function say(line: string): void {
  process.stderr.write(`${line}\n`)
}

const log = createLogger({ level: 'warn', name: 'chaos' })
const ignoreSignals = onShutdown(closeAll, { timeoutMs: CLOSE_MS_MAX, log, leavesWork: true })
process.exitCode = await main()
ignoreSignals()
