import { createLogger, onShutdown } from '@heddle/runtime'
import { closeAll } from '@heddle/test-support/closing'
import { help, readArguments, type SoakArguments } from './arguments.js'
import { isSteady, judge } from './judge.js'
import { soak } from './soak.js'
import { tableHead, tableRow, tableVerdict } from './table.js'

const CLOSE_MS_MAX = 30_000

/** Prints a row each minute on standard error. Exit code 0 when all stays flat, 1 when not, 2 for wrong arguments. */
async function main(): Promise<number> {
  let given: SoakArguments
  try {
    given = readArguments(process.argv.slice(2))
  } catch (error) {
    say(`${error instanceof Error ? error.message : error}\nnpm run soak -- --help shows the options`)
    return 2
  }
  if (given.help) {
    process.stdout.write(help)
    return 0
  }
  say(`${given.rate} operations/s on ${given.topology} for ${given.minutes} minutes; --seed ${given.seed}`)
  say(tableHead)
  try {
    const samples = await soak(given, (sample) => say(tableRow(sample)))
    const verdicts = judge(samples)
    for (const verdict of verdicts) say(tableVerdict(verdict))
    if (given.json) process.stdout.write(`${JSON.stringify({ ...given, samples, verdicts })}\n`)
    return isSteady(verdicts) ? 0 : 1
  } catch (error) {
    say(`the run failed: ${error instanceof Error ? error.stack : error}`)
    return 1
  } finally {
    await closeAll()
  }
}

function say(line: string): void {
  process.stderr.write(`${line}\n`)
}

const ignoreSignals = onShutdown(closeAll, {
  timeoutMs: CLOSE_MS_MAX,
  log: createLogger({ level: 'warn', name: 'soak' }),
  leavesWork: true,
})
process.exitCode = await main()
ignoreSignals()
