/**
 * Prints the counts of a run of the tests: `node .ci/summary.mjs <Vitest's JSON report>`. Ends with 1 when a test failed, and
 * when none ran.
 */
import { readFileSync } from 'node:fs'

const [path = ''] = process.argv.slice(2)
const { numPassedTests, numFailedTests, numPendingTests, numTodoTests, success } = JSON.parse(
  readFileSync(path, 'utf8'),
)
const skipped = numPendingTests + numTodoTests
process.stdout.write(`${numPassedTests} passed, ${numFailedTests} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`)
process.exitCode = success && numPassedTests > 0 ? 0 : 1
