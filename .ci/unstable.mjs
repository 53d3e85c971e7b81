/**
 * Judges tests that failed once and passed three times since: `node .ci/unstable.mjs <Vitest's JSON report>`. Each of them is
 * listed in `.ci/unstable.json` with its history. Ends with 1 where one is listed already: it was let pass once and not mended.
 */
import { readFileSync } from 'node:fs'

const [path = ''] = process.argv.slice(2)
const read = (file) => JSON.parse(readFileSync(file, 'utf8'))
const listed = read(new URL('unstable.json', import.meta.url))
// A test stands there by its end: what it runs against comes before.
const entryOf = (fullName) => listed.find(({ test }) => fullName.endsWith(test))
const failed = read(path).testResults.flatMap(({ assertionResults }) =>
  assertionResults.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName),
)
const again = failed.filter(entryOf)
const date = new Date().toISOString().slice(0, 10)
for (const test of failed.filter((each) => !entryOf(each))) {
  const entry = JSON.stringify({ test, failures: [{ date, cause: 'not known yet' }] })
  process.stdout.write(`UNSTABLE: add it to .ci/unstable.json, and find out why:\n  ${entry}\n`)
}
for (const test of again) {
  const { failures } = entryOf(test)
  const history = failures.map(({ date: day, cause }) => `${day}: ${cause}`).join('; ')
  process.stdout.write(`UNSTABLE AGAIN, so this run has failed: ${test}\n  before: ${history}\n`)
}
process.exitCode = again.length > 0 ? 1 : 0
