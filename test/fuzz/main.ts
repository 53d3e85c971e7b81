import { parseArgs } from 'node:util'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { toFigure } from '@heddle/test-support/figure'
import { run } from './run.js'

const USAGE =
  'npm run fuzz -- [--inputs N] [--seed N] [--from N]: judges inputs of the ingest contract; --from FIRST --inputs 1 repeats one'
const INPUTS_DEFAULT = 1_000_000
const SAY_EVERY = 100_000
const BYTES_PER_MB = 1_048_576

/** Prints one figure as a line of JSON. Exit code 0 when no input crashed, 1 when one did, 2 for wrong arguments. */
async function main(): Promise<number> {
  let given: { seed: number; from: number; count: number }
  try {
    given = readArguments()
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n${USAGE}\n`)
    return 2
  }
  // Most inputs are refused, and to write down where from costs more than to refuse them.
  Error.stackTraceLimit = 3
  const heapMb: number[] = []
  const startedAtMs = performance.now()
  const { crashes, crashed, ...tally } = await run({
    ...given,
    onProgress(done) {
      if (done % SAY_EVERY !== 0) return
      heapMb.push(heapInUseMb())
      process.stderr.write(`${done} inputs, ${heapMb.at(-1)} MB\n`)
    },
  })
  for (const { input, error } of crashes) {
    process.stderr.write(`input ${input}: ${error instanceof Error ? error.stack : error}\n`)
  }
  const figure = toFigure({ name: 'ingest.fuzz', value: crashed, unit: 'crashes', target: '<= 0' })
  const seconds = Number(((performance.now() - startedAtMs) / 1_000).toFixed(1))
  process.stdout.write(
    `${JSON.stringify({ ...figure, ...tally, crashes: crashed, seed: given.seed, seconds, heapMb })}\n`,
  )
  return crashed === 0 ? 0 : 1
}

function readArguments(): { seed: number; from: number; count: number } {
  const { values } = parseArgs({
    options: { inputs: { type: 'string' }, seed: { type: 'string' }, from: { type: 'string' } },
  })
  const whole = (name: 'inputs' | 'seed' | 'from', otherwise: number) => {
    const number = values[name] === undefined ? otherwise : Number(values[name])
    if (!Number.isInteger(number) || number < 0) throw new Error(`--${name} must be a whole number`)
    return number
  }
  return { seed: whole('seed', 1), from: whole('from', 0), count: whole('inputs', INPUTS_DEFAULT) }
}

/** After a collection, so that growth is what is kept and not what waits to be collected. */
function heapInUseMb(): number {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  return Math.round(process.memoryUsage().heapUsed / BYTES_PER_MB)
}

process.exitCode = await main()
