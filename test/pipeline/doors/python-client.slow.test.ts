import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPipeline, type Pipeline } from '../support.js'
import { type Served, serve } from './http-support.js'

const run = promisify(execFile)
const folder = new URL('../../../clients/python/', import.meta.url)
const hasPython = await run('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 9))']).then(
  () => true,
  () => false,
)

let pipeline: Pipeline
let http: Served
beforeAll(async () => {
  // One server of queues: the client sees HTTP alone.
  pipeline = await openPipeline('postgres')
  await pipeline.start()
  http = await serve(pipeline)
})
afterAll(async () => {
  await http?.gateway.close()
  await pipeline?.close()
})

test.skipIf(!hasPython)('the Python client passes its own tests, with a gateway and with faults', async () => {
  const { key } = await pipeline.clientOf('python').keys.create({ name: 'python', role: 'admin' })
  const env = { ...process.env, HEDDLE_URL: http.url, HEDDLE_KEY: key, PYTHONDONTWRITEBYTECODE: '1' }
  const { stderr } = await run('python3', ['-m', 'unittest'], { cwd: folder, env })
  expect(stderr).toMatch(/^Ran 11 tests[\s\S]*^OK$/m)
})
