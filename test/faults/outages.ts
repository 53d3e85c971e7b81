import { createLogger, onShutdown } from '@heddle/runtime'
import { closeAll } from '@heddle/test-support/closing'
import { formatFigure, isWanted, toFigure } from '@heddle/test-support/figure'
import { type OutageCase, type OutageResult, runOutage } from './outage.js'
import { help, readArguments } from './outage-arguments.js'

const CLOSE_MS_MAX = 20_000
const TARGET = '<= 15'

/** Prints a figure as a line of JSON for each outage. Exit code 0 when all pass, 1 when one does not, 2 for wrong arguments. */
async function main(): Promise<number> {
  let given: ReturnType<typeof readArguments>
  try {
    given = readArguments(process.argv.slice(2))
  } catch (error) {
    process.stderr.write(
      `${error instanceof Error ? error.message : error}\nnpm run outages -- --help shows the options\n`,
    )
    return 2
  }
  if (given.help) {
    process.stdout.write(help)
    return 0
  }
  const cases = given.seconds
    .flatMap((seconds): OutageCase[] => [
      { queues: 'redis', server: 'Redis', seconds },
      { queues: 'redis', server: 'Postgres', seconds },
      { queues: 'postgres', server: 'Postgres', seconds },
    ])
    .filter((outage) => isWanted(nameOf(outage), given.only))
  let failed = cases.length === 0
  for (const outage of cases) {
    if (given.list) process.stdout.write(`${nameOf(outage)}\n`)
    else if (!(await measure(outage))) failed = true
  }
  return failed ? 1 : 0
}

/** @returns whether the figures pass */
async function measure(outage: OutageCase): Promise<boolean> {
  try {
    const result = await runOutage(outage)
    const value = Math.max(result.waitingStored, result.nextStored)
    const figure = toFigure({ name: nameOf(outage), value, unit: 's from return to stored', target: TARGET })
    const pass = figure.pass === true && isNamed(outage, result)
    process.stdout.write(`${formatFigure({ ...figure, ...result, pass } as typeof figure)}\n`)
    return pass
  } catch (error) {
    process.stderr.write(`${nameOf(outage)}: ${error instanceof Error ? error.stack : error}\n`)
    return false
  }
}

/** Whether the workers and `heddle doctor` named the stopped server. */
function isNamed({ server }: OutageCase, { readyz, doctor }: OutageResult): boolean {
  const names = (text: string) => text.includes(server)
  return readyz.length > 0 && readyz.every(names) && (doctor === null || doctor.some(names))
}

function nameOf({ queues, server, seconds }: OutageCase): string {
  return `outage.${queues}.${server.toLowerCase()}.${seconds}s`
}

const ignoreSignals = onShutdown(closeAll, {
  timeoutMs: CLOSE_MS_MAX,
  log: createLogger({ level: 'warn', name: 'outages' }),
  leavesWork: true,
})
process.exitCode = await main()
ignoreSignals()
