import { createLogger, onShutdown } from '@heddle/runtime'
import { closeAll } from '@heddle/test-support/closing'
import { formatFigure, isWanted, type Measured, toFigure } from '@heddle/test-support/figure'
import { type Arguments, help, readArguments } from './arguments.js'
import { withBench } from './bench.js'
import { nameOn, onBackends, plain } from './catalog.js'
import { type BackendName, backendNames, MissingServer } from './servers.js'

/** A stopped run removes its servers within this time. */
const CLOSE_MS_MAX = 20_000

/**
 * Prints one line of JSON for each figure, as soon as it is measured; progress goes to standard error.
 * Exit code 0 when all were measured, passed or not, 1 when a measurement failed, 2 for wrong arguments.
 */
async function main(): Promise<number> {
  let given: Arguments
  try {
    given = readArguments(process.argv.slice(2), process.env)
  } catch (error) {
    say(error instanceof Error ? error.message : String(error))
    return 2
  }
  if (given.help) {
    process.stdout.write(help)
    return 0
  }
  const names = [
    ...backendNames.flatMap((backend) => onBackends.flatMap((each) => each.names.map((name) => nameOn(name, backend)))),
    ...plain.flatMap((each) => each.names),
  ]
  const wanted = names.filter((name) => isWanted(name, given.only))
  if (given.list) {
    for (const name of names) process.stdout.write(`${name}\n`)
    return 0
  }
  if (wanted.length === 0) {
    say('no figure has such a name; --list shows them')
    return 2
  }
  const failures: unknown[] = []
  const attempt = async (what: string, measure: () => Promise<Measured[]>) => {
    say(`measuring ${what}`)
    try {
      for (const measured of await measure()) {
        if (wanted.includes(measured.name)) process.stdout.write(`${formatFigure(toFigure(measured))}\n`)
      }
    } catch (error) {
      failures.push(error)
      say(`${what} could not be measured: ${error instanceof Error ? (error.stack ?? error.message) : error}`)
    }
  }
  for (const backend of backendNames) await measureBackend(backend, given, wanted, attempt)
  for (const { names: own, measure } of plain) {
    if (own.some((name) => wanted.includes(name))) await attempt(own.join(', '), () => measure(given))
  }
  return failures.length === 0 ? 0 : 1
}

/** Each measurement has servers of its own, as it may leave work behind that the next one would wait for. */
async function measureBackend(
  backend: BackendName,
  sizes: Arguments,
  wanted: readonly string[],
  attempt: (what: string, measure: () => Promise<Measured[]>) => Promise<void>,
): Promise<void> {
  for (const { names, measure } of onBackends) {
    const named = names.map((name) => nameOn(name, backend))
    if (!named.some((name) => wanted.includes(name))) continue
    try {
      await withBench(backend, (bench) => attempt(named.join(', '), () => measure(bench, sizes)))
    } catch (error) {
      if (!(error instanceof MissingServer)) throw error
      say(error.message)
      return
    }
  }
}

function say(line: string): void {
  process.stderr.write(`${line}\n`)
}

const log = createLogger({ level: 'warn', name: 'bench' })
const ignoreSignals = onShutdown(closeAll, { timeoutMs: CLOSE_MS_MAX, log, leavesWork: true })
process.exitCode = await main()
ignoreSignals()
