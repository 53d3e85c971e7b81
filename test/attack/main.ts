import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { type Figure, formatFigure } from '@heddle/test-support/figure'

const USAGE = `npm run attack -- [--operations N]

Fills ten projects with a secret each, and requests, as each, the data of the others: forged ids, names, references and cursors,
over HTTP, MCP, events and the queue. Then it runs a twentieth of the operations without row-level security, the same without the
conditions of the queries, and last without both, where it must find secrets: otherwise it could not fail.

  --operations N   number of operations; default 100,000 (or HEDDLE_ATTACK_OPERATIONS)

Prints one line of JSON for each figure; progress goes to standard error. Exit code 0 when all pass, 1 when one does
not, 2 for wrong arguments. Needs a Postgres like the tests: that of DATABASE_URL, or the one from npm.`

const OPERATIONS_DEFAULT = 100_000
const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const VITEST = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs')

async function main(): Promise<number> {
  let operations: number
  try {
    const options = { operations: { type: 'string' }, help: { type: 'boolean', short: 'h' } } as const
    const { values } = parseArgs({ options })
    if (values.help === true) {
      process.stdout.write(`${USAGE}\n`)
      return 0
    }
    operations = Number(values.operations ?? process.env['HEDDLE_ATTACK_OPERATIONS'] ?? OPERATIONS_DEFAULT)
    if (!Number.isInteger(operations) || operations < 1) throw new Error('--operations must be a whole number')
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n${USAGE}\n`)
    return 2
  }
  const folder = await mkdtemp(join(tmpdir(), 'heddle-attack-'))
  const file = join(folder, 'figures')
  try {
    const code = await runTests({ HEDDLE_ATTACK_OPERATIONS: String(operations), HEDDLE_ATTACK_FIGURES: file })
    const lines = (await readFile(file, 'utf8').catch(() => '')).split('\n').filter((line) => line !== '')
    for (const line of lines) process.stdout.write(`${formatFigure(JSON.parse(line) as Figure)}\n`)
    return code
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Runs the attack as tests, because tests can disable a check in the code. Their output goes to standard error. */
function runTests(env: Readonly<Record<string, string>>): Promise<number> {
  const child = spawn(process.execPath, [VITEST, 'run', '--project', 'attack'], {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ['ignore', process.stderr, process.stderr],
  })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => resolve(code === 0 ? 0 : 1))
  })
}

process.exitCode = await main()
