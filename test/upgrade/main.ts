import { createLogger, onShutdown } from '@heddle/runtime'
import { closeAll } from '@heddle/test-support/closing'
import { type Backend, help, readArguments, type UpgradeArguments } from './arguments.js'
import { type Verified, verifyUpgrade } from './verify.js'

const CLOSE_MS_MAX = 30_000
/** Number of printed losses, enough to see their kind. */
const SHOWN_MAX = 20
const CHARACTERS_MAX = 400

/** Prints the differences on each backend. Exit code 0 when all of them are intended, 1 when not, 2 for wrong arguments. */
async function main(): Promise<number> {
  let given: UpgradeArguments
  try {
    given = readArguments(process.argv.slice(2))
  } catch (error) {
    say(`${error instanceof Error ? error.message : error}\nnpm run verify:upgrade -- --help shows the options`)
    return 2
  }
  if (given.help) {
    process.stdout.write(help)
    return 0
  }
  let isLossless = true
  for (const backend of given.backends) {
    try {
      const verified = await verifyUpgrade(backend, given, (line) => say(`${backend}: ${line}`))
      print(backend, verified)
      isLossless &&= verified.lost.length === 0
    } catch (error) {
      say(`${backend}: ${error instanceof Error ? error.stack : error}`)
      isLossless = false
    } finally {
      await closeAll()
    }
  }
  return isLossless ? 0 : 1
}

function print(backend: Backend, { readings, meant, lost }: Verified): void {
  for (const [reason, count] of meant) process.stdout.write(`${backend}: ${count} places differ: ${reason}\n`)
  const places = new Map<string, number>()
  for (const { asked, place } of lost) {
    const key = `${asked.split(' ')[0]} … ${place}`
    places.set(key, (places.get(key) ?? 0) + 1)
  }
  for (const [place, count] of places) process.stdout.write(`${backend}: LOST at ${count} of ${place}\n`)
  for (const { asked, place, before, after } of lost.slice(0, SHOWN_MAX)) {
    process.stdout.write(
      `  ${cut(asked)}\n    ${place}: ${cut(JSON.stringify(before))}\n    now ${cut(JSON.stringify(after))}\n`,
    )
  }
  process.stdout.write(`${backend}: ${readings} answers compared, ${lost.length} places lost or changed\n`)
}

function cut(text: string): string {
  return text.length <= CHARACTERS_MAX ? text : `${text.slice(0, CHARACTERS_MAX)}…`
}

function say(line: string): void {
  process.stderr.write(`${line}\n`)
}

const ignoreSignals = onShutdown(closeAll, {
  timeoutMs: CLOSE_MS_MAX,
  log: createLogger({ level: 'warn', name: 'upgrade' }),
  leavesWork: true,
})
process.exitCode = await main()
ignoreSignals()
