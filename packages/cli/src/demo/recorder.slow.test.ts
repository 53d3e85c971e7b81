import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, expect, test, vi } from 'vitest'
import { recordSession } from './recorder.js'
import { createDemoTools } from './tools.js'

const sourceDir = fileURLToPath(new URL('../../../../', import.meta.url))
const folders: string[] = []

afterEach(async () => {
  await Promise.all(folders.splice(0).map((folder) => rm(folder, { recursive: true, force: true })))
})

async function scratch(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'heddle-recorder-'))
  folders.push(folder)
  return folder
}

test('the recorder works through a real session of at least 200 messages, some of them failures, and again the same', {
  timeout: 120_000,
}, async () => {
  const scratchDir = await scratch()
  const record = async () => {
    await rm(scratchDir, { recursive: true, force: true })
    let at = Date.UTC(2026, 0, 1)
    return recordSession({ sourceDir, scratchDir, nowMs: () => at++ })
  }
  const first = await record()
  const session = await record()
  // The same files in the same folder give the same session.
  expect(session.text).toBe(first.text)
  expect(session.messages).toBeGreaterThanOrEqual(200)
  expect(session.failedCalls).toBeGreaterThanOrEqual(5)
  expect(await readFile(session.path, 'utf8')).toBe(session.text)

  const records = session.text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  const calls = records.flatMap((record) => blocksOf(record, 'tool_use').map((block) => block.id))
  const results = records.flatMap((record) => blocksOf(record, 'tool_result').map((block) => block.tool_use_id))
  expect(results).toEqual(calls)
  const requests = records.filter((record) => record.type === 'user' && typeof record.message.content === 'string')
  expect(requests.length).toBeGreaterThanOrEqual(5)
})

test('a folder with too little in it is refused with what to do', async () => {
  await expect(recordSession({ sourceDir: await scratch(), scratchDir: await scratch() })).rejects.toMatchObject({
    code: 'NOT_FOUND',
    hint: expect.stringContaining('heddle demo FILE'),
  })
})

test('a command of the agent gets none of the environment of Heddle', { timeout: 60_000 }, async () => {
  vi.stubEnv('HEDDLE_RECORDER_SECRET', 'do-not-record')
  const tools = createDemoTools({ root: await scratch(), paths: [] })
  const command = 'node -e "process.stdout.write(String(process.env.HEDDLE_RECORDER_SECRET))"'
  expect(await tools.run({ name: 'Bash', input: { command } })).toEqual({ content: 'undefined', isError: false })
  vi.unstubAllEnvs()
})

interface Block {
  type: string
  id?: string
  tool_use_id?: string
}

function blocksOf(record: { message: { content: string | Block[] } }, type: string): Block[] {
  return typeof record.message.content === 'string' ? [] : record.message.content.filter((block) => block.type === type)
}
