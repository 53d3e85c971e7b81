import { parseArgs } from 'node:util'
import { createLogger, onShutdown } from '@heddle/runtime'
import { closeAll } from '@heddle/test-support/closing'
import { formatFigure, isWanted, toFigure } from '@heddle/test-support/figure'
import { type OutageCase, type OutageResult, runOutage } from './outage.js'

const USAGE =
  'npm run outages -- [--only NAME] [--list] [--seconds 3,20,60]: takes servers away and measures their return'
const SECONDS_MAX = 3_600
const CLOSE_MS_MAX = 20_000
const TARGET = '<= 15'

/** Prints a figure as a line of JSON for each outage. Exit code 0 when all pass, 1 when one does not, 2 for wrong arguments. */
async function main(): Promise<number> {
  let given: { only: readonly string[] | null; list: boolean; seconds: readonly number[] }
  try {
    given = readArguments()
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n${USAGE}\n`)
    return 2
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

/** @returns whether all is as it should be */
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

/** Whether the workers and `heddle doctor` said which server was away. */
function isNamed({ server }: OutageCase, { readyz, doctor }: OutageResult): boolean {
  const names = (text: string) => text.includes(server)
  return readyz.length > 0 && readyz.every(names) && (doctor === null || doctor.some(names))
}

function nameOf({ queues, server, seconds }: OutageCase): string {
  return `outage.${queues}.${server.toLowerCase()}.${seconds}s`
}

function readArguments() {
  const { values } = parseArgs({
    options: {
      only: { type: 'string', multiple: true },
      list: { type: 'boolean', default: false },
      seconds: { type: 'string', default: '3,20,60' },
    },
  })
  const seconds = values.seconds.split(',').map(Number)
  if (!seconds.every((each) => Number.isInteger(each) && each >= 1 && each <= SECONDS_MAX)) {
    throw new Error(`--seconds must be whole numbers from 1 to ${SECONDS_MAX}, such as 3,20,60`)
  }
  return { only: values.only ?? null, list: values.list, seconds }
}

const ignoreSignals = onShutdown(closeAll, {
  timeoutMs: CLOSE_MS_MAX,
  log: createLogger({ level: 'warn', name: 'outages' }),
})
process.exitCode = await main()
ignoreSignals()
