import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { openCheckout } from './checkout.js'
import { type Figure, figuresOf } from './figures.js'
import { sampleOf } from './sample.js'
import { textsOf } from './texts.js'
import { type WalkName, walk, walkNames } from './walk/walk.js'

const USAGE = `npm run structure -- [options]

Prints the structure of the repository: lines and files by package, the largest file and folder, circles of imports, small files
with one importer, docstrings, conditional spreads, repeated blocks, and uses of reserved words.

  --repo DIR     another checkout, such as an older commit; default: this one
  --json         prints one JSON object a line
  --list         also prints each circle, small file, paraphrase and repeated block
  --walk NAME    prints instead the source files that one request passes in a built checkout, in the order of their first call:
                 append (a message over HTTP to its row) or context (from the client over HTTP to its delivery)
  --sample N     prints instead N random texts of comments, help, log messages and errors
  --seed N       seed of the sample; default: 1

Exits: 0, or 2 for wrong arguments.`

/** Figures with many entries, which only `--list` prints. */
const DETAILS = new Set(['circle', 'small file', 'paraphrase', 'repeated block'])

async function main(): Promise<number> {
  const given = readArguments()
  if (given === null) {
    process.stderr.write(`${USAGE}\n`)
    return 2
  }
  const print = given.json ? printJson : printLine
  if (given.walk !== null) {
    for await (const figure of walk(resolve(given.repo), given.walk)) print(figure)
    return 0
  }
  const checkout = openCheckout(given.repo)
  if (given.sample !== null) {
    for (const text of sampleOf(textsOf(checkout), given.sample, given.seed)) print({ figure: 'text', ...text })
    return 0
  }
  for (const figure of figuresOf(checkout)) if (given.list || !DETAILS.has(figure.figure)) print(figure)
  return 0
}

function printJson(figure: Figure): void {
  process.stdout.write(`${JSON.stringify(figure)}\n`)
}

function printLine({ figure, ...values }: Figure): void {
  const cells = Object.entries(values).map(
    ([name, value]) => `${name} ${typeof value === 'string' ? value : shown(value)}`,
  )
  process.stdout.write(`${figure.padEnd(30)} ${cells.join(' · ')}\n`)
}

/** `{"files":1,"lines":2}` as `files 1, lines 2`. */
function shown(value: unknown): string {
  return JSON.stringify(value).replace(/[{}"]/g, '').replaceAll(':', ' ').replaceAll(',', ', ')
}

interface Given {
  readonly repo: string
  readonly json: boolean
  readonly list: boolean
  readonly walk: WalkName | null
  readonly sample: number | null
  readonly seed: number
}

function readArguments(): Given | null {
  try {
    const { values } = parseArgs({
      options: {
        repo: { type: 'string', default: '.' },
        json: { type: 'boolean', default: false },
        list: { type: 'boolean', default: false },
        walk: { type: 'string' },
        sample: { type: 'string' },
        seed: { type: 'string', default: '1' },
      },
    })
    const { repo, json, list } = values
    const sample = values.sample === undefined ? null : Number(values.sample)
    const seed = Number(values.seed)
    const walk = walkNames.find((name) => name === values.walk) ?? null
    if (walk === null && values.walk !== undefined) return null
    const isCount = (number: number) => Number.isSafeInteger(number) && number >= 0
    return isCount(sample ?? 0) && isCount(seed) ? { repo, json, list, walk, sample, seed } : null
  } catch {
    return null
  }
}

process.exitCode = await main()
