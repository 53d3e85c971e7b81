import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { openCheckout } from '../structure/checkout.js'
import { looseCeilings, problemsOf, readCeilings, writeCeilings } from './ceilings.js'
import { findingsIn } from './findings.js'

const USAGE = `npm run tidy -- [options]

Counts reserved words in comments, messages, help, test titles and pages, long comment lines, crowded folders, dead links
and unused files. Each count has a ceiling, which only falls.

  --list TEXT    prints every finding whose rule or place contains this, such as --list "word tell" or --list packages/store
  --write        lowers the ceilings to the current counts

Exits: 0 when no count is above its ceiling, 1 when one is, 2 for wrong arguments.`

function main(): number {
  const given = readArguments()
  if (given === null) {
    process.stderr.write(`${USAGE}\n`)
    return 2
  }
  const findings = findingsIn(openCheckout(fileURLToPath(new URL('../../..', import.meta.url))))
  const { list } = given
  if (list !== undefined) {
    const listed = findings.flatMap(({ rule, places }) => places.map((place) => `${rule}: ${place}`))
    for (const line of listed.filter((line) => line.includes(list))) process.stdout.write(`${line}\n`)
    return 0
  }
  const ceilings = readCeilings()
  if (given.write) {
    const raised = findings.filter(({ rule, places }) => places.length > (ceilings[rule] ?? 0))
    if (raised.length === 0) writeCeilings(findings)
    else process.stderr.write('Ceilings only fall: nothing is written while a count is above its ceiling.\n')
  }
  const problems = problemsOf(findings, readCeilings())
  for (const { rule, places } of findings)
    process.stdout.write(`${rule.padEnd(24)} ${String(places.length).padStart(5)} of ${ceilings[rule] ?? 0}\n`)
  for (const problem of [...problems, ...looseCeilings(findings, readCeilings())]) process.stdout.write(`${problem}\n`)
  return problems.length === 0 ? 0 : 1
}

function readArguments(): { list: string | undefined; write: boolean } | null {
  try {
    const { values } = parseArgs({ options: { list: { type: 'string' }, write: { type: 'boolean', default: false } } })
    return { list: values.list, write: values.write }
  } catch {
    return null
  }
}

process.exitCode = main()
