import { parseArgs } from 'node:util'
import { openCheckout } from './checkout.js'
import { type Figure, figuresOf } from './figures.js'
import { sampleOf } from './sample.js'
import { textsOf } from './texts.js'

const USAGE = `npm run structure -- [options]

Prints how the repository is built: lines and files by package, the largest file and folder, circles of imports, small files
with one importer, docstrings, conditional spreads, repeated blocks, and uses of reserved words.

  --repo DIR     another checkout, such as an older commit; this one by default
  --json         one JSON object a line
  --list         also each circle, small file, paraphrase and repeated block
  --sample N     instead, N texts drawn at random from comments, help, log messages and errors
  --seed N       of the sample; 1 by default

Exits: 0, or 2 for wrong arguments.`

/** Figures that are one of many; `--list` shows them. */
const DETAILS = new Set(['circle', 'small file', 'paraphrase', 'repeated block'])

function main(): number {
  const given = readArguments()
  if (given === null) {
    process.stderr.write(`${USAGE}\n`)
    return 2
  }
  const checkout = openCheckout(given.repo)
  const print = given.json ? printJson : printLine
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
        sample: { type: 'string' },
        seed: { type: 'string', default: '1' },
      },
    })
    const { repo, json, list } = values
    const sample = values.sample === undefined ? null : Number(values.sample)
    const seed = Number(values.seed)
    const isCount = (number: number) => Number.isSafeInteger(number) && number >= 0
    return isCount(sample ?? 0) && isCount(seed) ? { repo, json, list, sample, seed } : null
  } catch {
    return null
  }
}

process.exitCode = main()
