import { createLogger, onShutdown } from '@heddle/runtime'
import { closeAll } from '@heddle/test-support/closing'
import { formatFigure, isWanted, toFigure } from '@heddle/test-support/figure'
import { type Arguments, help, readArguments } from './arguments.js'
import { catalog } from './catalog.js'

/** A stopped run removes its servers within this time. */
const CLOSE_MS_MAX = 20_000

/**
 * Prints one line of JSON for each figure; progress goes to standard error. Exit code 0 when all were measured,
 * passed or not, 1 when a measurement failed, 2 for wrong arguments or missing sessions.
 */
async function main(): Promise<number> {
  let given: Arguments
  try {
    given = readArguments(process.argv.slice(2), process.env)
  } catch (error) {
    return wrong(error instanceof Error ? error.message : String(error))
  }
  if (given.help) {
    process.stdout.write(help)
    return 0
  }
  const chosen = catalog.filter(({ names }) => names.some((name) => isWanted(name, given.only)))
  if (given.list) {
    for (const name of chosen.flatMap(({ names }) => names)) process.stdout.write(`${name}\n`)
    return 0
  }
  if (chosen.length === 0) return wrong('no figure has such a name; --list shows them')
  const { dataDir, histories, ablation } = given
  if (dataDir === null && chosen.some(({ needsData }) => needsData)) {
    return wrong('real sessions are needed: name their folder with --data DIR or HEDDLE_EVAL_DATA')
  }
  let failures = 0
  for (const { names, measure } of chosen) {
    say(`measuring ${names.join(', ')}`)
    try {
      for (const measured of await measure({ dataDir: dataDir ?? '', histories, ablation })) {
        if (isWanted(measured.name, given.only)) process.stdout.write(`${formatFigure(toFigure(measured))}\n`)
      }
    } catch (error) {
      failures++
      say(
        `${names.join(', ')} could not be measured: ${error instanceof Error ? (error.stack ?? error.message) : error}`,
      )
    } finally {
      await closeAll()
    }
  }
  return failures === 0 ? 0 : 1
}

function wrong(message: string): number {
  say(message)
  return 2
}

function say(line: string): void {
  process.stderr.write(`${line}\n`)
}

const log = createLogger({ level: 'warn', name: 'eval' })
const ignoreSignals = onShutdown(closeAll, { timeoutMs: CLOSE_MS_MAX, log, leavesWork: true })
process.exitCode = await main()
ignoreSignals()
