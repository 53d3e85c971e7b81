/**
 * Names the files that failed in a run of the tests: `node .ci/failed.mjs <Vitest's JSON report>`, one a line. Ends with 1
 * where more than a few failed: that is no accident of one run.
 */
import { readFileSync } from 'node:fs'
import { relative } from 'node:path'

/** Each of them has to pass three times more, alone: a fault of the change at hand does not. */
const FILES_MAX = 4

const [path = ''] = process.argv.slice(2)
const { testResults } = JSON.parse(readFileSync(path, 'utf8'))
const failed = testResults.filter(({ status }) => status === 'failed').map(({ name }) => relative('.', name))
for (const file of failed) process.stdout.write(`${file}\n`)
process.exitCode = failed.length > 0 && failed.length <= FILES_MAX ? 0 : 1
