import type { DemoSession } from './session.js'

const TOOL = 'scripts/longest-functions.mjs'
const CHECK = 'scripts/longest-functions-check.mjs'

/** The agent writes a small tool with its check, and gets it right on the third try. */
export async function writeReportTool(session: DemoSession): Promise<void> {
  session.ask(
    'Write a script that lists the longest exported functions, with a small check beside it that I can run by hand.',
  )
  await session.use('I will write the script and check its syntax.', session.write(TOOL, FIRST_DRAFT))
  await session.use(null, session.bash(`node --check ${TOOL}`, 'Check the syntax'))
  await session.use('A parenthesis is missing.', session.read(TOOL))
  await session.use(null, session.edit(TOOL, 'files.push(path', 'files.push(path)'))
  await session.use(null, session.bash(`node --check ${TOOL}`, 'Check the syntax again'))
  await session.use(
    'It parses; now let it run.',
    session.bash(`node ${TOOL} --top 10`, 'List the ten longest functions'),
  )

  await session.use('Now the check.', session.write(CHECK, CHECK_PROGRAM))
  await session.use(null, session.bash(`node ${CHECK}`, 'Run the check'))
  await session.use(
    'The script counts one line too many: the end is counted twice.',
    session.read(TOOL),
    session.read(CHECK),
  )
  await session.use(null, session.edit(TOOL, 'end - start + 2', 'end - start + 1'))
  await session.use(null, session.bash(`node ${CHECK}`, 'Run the check again'))

  await session.use(
    'What does it do with a bad option?',
    session.bash(`node ${TOOL} --top many`, 'Try a value that is no number'),
  )
  await session.use(
    'Good: it refuses. And a folder that is not there?',
    session.bash(`node ${TOOL} --in nowhere`, 'Try a missing folder'),
  )
  const [longest] = await session.use(
    'The whole report once more.',
    session.bash(`node ${TOOL} --top 25`, 'List the longest functions'),
  )
  session.say(
    `The script is ${TOOL}, its check ${CHECK}. The longest functions at the moment:\n\n${longest?.content ?? ''}`,
  )
}

const FIRST_DRAFT = `import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

function optionOf(name, fallback) {
  const at = process.argv.indexOf(name)
  return at === -1 ? fallback : process.argv[at + 1]
}

export function sourcesIn(folder) {
  const files = []
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) files.push(...sourcesIn(path))
    else if (/\\.(ts|js|mjs)$/.test(entry.name)) files.push(path
  }
  return files.sort()
}

export function functionsIn(text) {
  const lines = text.split('\\n')
  const found = []
  for (const [start, line] of lines.entries()) {
    const name = /^export (?:async )?function\\*? ([A-Za-z0-9_]+)/.exec(line)?.[1]
    if (name === undefined) continue
    const end = lines.indexOf('}', start)
    if (end !== -1) found.push({ name, lines: end - start + 2 })
  }
  return found
}

if (process.argv[1]?.endsWith('longest-functions.mjs')) {
  const top = Number(optionOf('--top', '10'))
  if (!Number.isInteger(top)) throw new RangeError('--top must be a whole number, received ' + optionOf('--top'))
  const rows = sourcesIn(optionOf('--in', '.')).flatMap((path) =>
    functionsIn(readFileSync(path, 'utf8')).map((each) => ({ ...each, path })),
  )
  rows.sort((left, right) => right.lines - left.lines || (left.path + left.name < right.path + right.name ? -1 : 1))
  for (const row of rows.slice(0, top)) process.stdout.write(row.lines + ' lines  ' + row.name + '  ' + row.path + '\\n')
}
`

const CHECK_PROGRAM = `import assert from 'node:assert/strict'
import { functionsIn } from './longest-functions.mjs'

const text = ['export function one() {', '  return 1', '}', '', 'export async function two() {', '}'].join('\\n')
assert.deepEqual(functionsIn(text), [
  { name: 'one', lines: 3 },
  { name: 'two', lines: 2 },
])
process.stdout.write('2 functions counted, as expected\\n')
`
