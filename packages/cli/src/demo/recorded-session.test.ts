import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { readRecordedSession } from './recorded-session.js'

interface Block {
  readonly type: string
  readonly id?: string
  readonly tool_use_id?: string
  readonly is_error?: boolean
}

interface SessionRecord {
  readonly type: string
  readonly cwd: string
  readonly message: { readonly content: string | readonly Block[] }
}

test('the recorded session has at least 200 messages, several failed calls, and one result for each call', async () => {
  const records = (await readRecordedSession())
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as SessionRecord)
  const blocks = records.flatMap(({ message }) => (typeof message.content === 'string' ? [] : message.content))
  const results = blocks.filter(({ type }) => type === 'tool_result')
  expect(results.map((block) => block.tool_use_id)).toEqual(
    blocks.filter(({ type }) => type === 'tool_use').map(({ id }) => id),
  )
  expect(results.filter((block) => block.is_error === true).length).toBeGreaterThanOrEqual(5)
  const requests = records.filter(({ type, message }) => type === 'user' && typeof message.content === 'string')
  expect(requests.length).toBeGreaterThanOrEqual(5)
  expect(records.length).toBeGreaterThanOrEqual(200)
  // The folder of the machine that recorded it was replaced.
  expect(new Set(records.map(({ cwd }) => cwd))).toEqual(new Set(['/home/agent/heddle']))
})

test('the npm package contains the recorded session', async () => {
  const manifest = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8')) as {
    readonly files: readonly string[]
  }
  expect(manifest.files).toContain('assets')
})
