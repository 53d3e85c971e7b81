import { parseArgs } from 'node:util'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { formatFigure, isWanted, toFigure } from '@heddle/test-support/figure'
import { type ContentsArguments, contentsOptions, readContentsArguments, runContents } from './contents/command.js'
import { fuzzHttp, httpNames } from './http.js'
import { run } from './run.js'

const USAGE = `npm run fuzz -- [--only ingest|http] [--inputs N] [--seed N] [--from N]
npm run fuzz -- --only contents [--shapes NAME,NAME*] [--sizes MB,MB] [--part K/N] [--results FILE] [--profiles DIR] [--json]

  --only ingest   validates inputs against the ingest contract, in this process
  --only http     sends requests derived from the OpenAPI document to a new heddle up with its own data: other methods,
                  paths, queries, headers, encodings and bodies, several at once over each connection, and bytes that are not
                  a request. A fault is an answer of 5xx, a refusal that is not a problem document with a known code, a
                  connection closed without an answer, or a server that ended. A few are valid, so that the store has work.
  --only contents appends contents of many shapes and sizes to a new heddle up, and waits until its workers have processed
                  them; imports, builds, searches, recalls and exports those of the largest size. Prints for each shape the
                  longest answer of /healthz meanwhile, at most 250 ms, beside that of a server without work, the longest
                  block of the event loop, and the time to settle, which may grow at most tenfold while the content grows
                  eightfold. Runs only if it is named, and takes some hours for all shapes and sizes.
  --shapes NAMES  names of shapes; * at the end of a name matches any suffix. Default: all
  --sizes MB      sizes of the contents. Default: 1,2,4,8
  --part K/N      the K-th of N parts of the shapes, each with shapes of all kinds. Default: 1/1
  --results FILE  adds each row to a file, a line of JSON with the commit. Shapes that are in it are not measured again,
                  except those above a limit that were measured beside other programs (*); the table and the verdict at
                  the end are of all rows of the file
  --profiles DIR  folder for the CPU profiles that each server writes at its end, for the developer tools of a browser
  --json          prints a JSON object for each shape instead of a row of a table

  --inputs N      number of inputs. Default: 1,000,000
  --seed N        seed of the inputs; the same seed sends the same inputs. Default: 1
  --from N        number of the first input: --seed SEED --from FIRST --inputs 1 repeats one

Prints one line of JSON for each figure; progress and faults go to standard error. Exit code 0 when all
figures pass, 1 when one does not, 2 for wrong arguments.`
const INPUTS_DEFAULT = 1_000_000
const SAY_EVERY = 100_000
const BYTES_PER_MB = 1_048_576

interface Given {
  readonly only: readonly string[] | null
  readonly seed: number
  readonly from: number
  readonly count: number
  readonly contents: ContentsArguments
}

/** Prints figures as lines of JSON. Exit code 0 when all pass, 1 when one does not, 2 for wrong arguments. */
async function main(): Promise<number> {
  if (process.argv.includes('--help') || process.argv.includes('-h')) {
    process.stdout.write(`${USAGE}\n`)
    return 0
  }
  let given: Given
  try {
    given = readArguments()
  } catch (error) {
    say(`${error instanceof Error ? error.message : error}\n${USAGE}`)
    return 2
  }
  const outcomes: boolean[] = []
  if (isWanted('ingest.fuzz', given.only)) outcomes.push(await fuzzIngest(given))
  const wanted = httpNames.filter((name) => isWanted(name, given.only))
  if (wanted.length > 0) {
    for (const measured of await fuzzHttp(given, say)) {
      const figure = toFigure(measured)
      if (!wanted.includes(measured.name)) continue
      outcomes.push(figure.pass !== false)
      process.stdout.write(`${formatFigure(figure)}\n`)
    }
  }
  if (given.only !== null && isWanted('contents.healthz', given.only))
    outcomes.push(await runContents(given.contents, { say, print: (line) => process.stdout.write(`${line}\n`) }))
  if (outcomes.length > 0) return outcomes.every(Boolean) ? 0 : 1
  say(USAGE)
  return 2
}

/** @returns whether no input crashed */
async function fuzzIngest(given: Given): Promise<boolean> {
  // Most inputs are refused, and recording their origin costs more than refusing them.
  Error.stackTraceLimit = 3
  const heapMb: number[] = []
  const startedAtMs = performance.now()
  const { crashes, crashed, ...tally } = await run({
    ...given,
    onProgress(done) {
      if (done % SAY_EVERY !== 0) return
      heapMb.push(heapInUseMb())
      say(`${done} inputs, ${heapMb.at(-1)} MB`)
    },
  })
  for (const { input, error } of crashes) {
    say(`input ${input}: ${error instanceof Error ? error.stack : error}`)
  }
  const figure = toFigure({ name: 'ingest.fuzz', value: crashed, unit: 'crashes', target: '<= 0' })
  const seconds = Number(((performance.now() - startedAtMs) / 1_000).toFixed(1))
  process.stdout.write(
    `${JSON.stringify({ ...figure, ...tally, crashes: crashed, seed: given.seed, seconds, heapMb })}\n`,
  )
  return crashed === 0
}

function say(line: string): void {
  process.stderr.write(`${line}\n`)
}

function readArguments(): Given {
  const { values } = parseArgs({
    options: {
      only: { type: 'string', multiple: true },
      inputs: { type: 'string' },
      seed: { type: 'string' },
      from: { type: 'string' },
      ...contentsOptions,
    },
  })
  const whole = (name: 'inputs' | 'seed' | 'from', otherwise: number) => {
    const number = values[name] === undefined ? otherwise : Number(values[name])
    if (!Number.isInteger(number) || number < 0) throw new Error(`--${name} must be a whole number`)
    return number
  }
  return {
    contents: readContentsArguments(values),
    only: values.only ?? null,
    seed: whole('seed', 1),
    from: whole('from', 0),
    count: whole('inputs', INPUTS_DEFAULT),
  }
}

/** After a garbage collection, so that growth is retained memory. */
function heapInUseMb(): number {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  return Math.round(process.memoryUsage().heapUsed / BYTES_PER_MB)
}

process.exitCode = await main()
