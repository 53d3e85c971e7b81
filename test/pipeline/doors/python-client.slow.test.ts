import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPipeline, type Pipeline } from '../support.js'
import { type Served, serve } from './http-support.js'

const run = promisify(execFile)
/** In one message of the gateway. */
const WORD = 'quokka'
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
  const client = pipeline.clientOf('python')
  const { key } = await client.keys.create({ name: 'python', role: 'admin' })
  const thread = { agent: 'snake', thread: 'searched' }
  await client.messages.append({ ...thread, messages: [{ role: 'user', content: `The ${WORD} listens on 5433.` }] })
  await client.threads.waitUntilSettled(thread.thread)
  const gateway = { HEDDLE_URL: http.url, HEDDLE_KEY: key, HEDDLE_TEST_WORD: WORD }
  const env = { ...process.env, ...gateway, PYTHONDONTWRITEBYTECODE: '1' }
  const { stderr } = await run('python3', ['-m', 'unittest'], { cwd: folder, env })
  expect(stderr).toMatch(/^Ran 11 tests[\s\S]*^OK$/m)
  expect(stderr).not.toContain('skipped')
})
