import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { planImport } from '@heddle/cli'
import { projectIdOf, threadIdOf } from '@heddle/core'
import { continueGrown } from '@heddle/engine'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { validateAnthropic, validateOpenAiChat } from '../../support/src/validators/index.js'
import { openPipeline, type Pipeline } from '../support.js'

const PROJECT = 'growing'
const AGENT = 'coder'

type Json = Record<string, unknown>

const text = (value: string) => ({ type: 'text', text: value })
const call = (id: string) => ({ type: 'tool_use', id, name: 'Read', input: { file_path: `/src/${id}.ts` } })
const said = (uuid: string, second: number, block: Json, usage = second): Json => ({
  type: 'assistant',
  uuid,
  timestamp: `2026-02-12T14:30:0${second}.000Z`,
  message: { id: 'msg_1', role: 'assistant', model: 'm', content: [block], usage: { output_tokens: usage } },
})
const result = (uuid: string, second: number, id: string): Json => ({
  type: 'user',
  uuid,
  timestamp: `2026-02-12T14:30:0${second}.000Z`,
  message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: `content of ${id}` }] },
})

/** A session of Claude Code, record by record as it is written: results of the first calls come before the last call. */
const RECORDS: Json[] = [
  {
    type: 'user',
    uuid: 'u0',
    timestamp: '2026-02-12T14:30:00.000Z',
    message: { role: 'user', content: 'Look at both.' },
  },
  said('a1', 1, text('I read them.')),
  said('a2', 1, call('one')),
  said('a3', 2, call('two')),
  result('r1', 3, 'one'),
  said('a4', 4, call('three')),
  result('r2', 5, 'two'),
  result('r3', 6, 'three'),
  {
    ...said('b1', 7, text('All is well.')),
    message: { id: 'msg_2', role: 'assistant', content: [text('All is well.')] },
  },
]

let pipeline: Pipeline
let folder: string

beforeAll(async () => {
  pipeline = await openPipeline()
  await pipeline.start()
  folder = await mkdtemp(join(tmpdir(), 'heddle-growing-'))
})
afterAll(async () => {
  await rm(folder, { recursive: true, force: true })
  await pipeline?.close()
})

/** As `heddle import` does. */
async function importRecords(thread: string, records: readonly Json[]) {
  await writeFile(join(folder, `${thread}.jsonl`), records.map((record) => `${JSON.stringify(record)}\n`).join(''))
  const [planned] = await planImport([`${thread}.jsonl`], { cwd: folder, project: PROJECT, format: 'claude-code' })
  const projectId = projectIdOf(PROJECT)
  const parts = { store: pipeline.store, projectId }
  const continued = await continueGrown(parts, threadIdOf(projectId, thread), planned?.messages ?? [])
  const client = pipeline.clientOf(PROJECT)
  const appended = await client.messages.append({
    agent: AGENT,
    thread,
    messages: continued.messages,
    newAgentRollingWindow: null,
  })
  return { ...appended, grown: continued.grown }
}

test('a session that is imported again after each record loses and duplicates nothing, and stays valid', async () => {
  const client = pipeline.clientOf(PROJECT)
  for (let count = 1; count <= RECORDS.length; count++) await importRecords('live', RECORDS.slice(0, count))
  await importRecords('whole', RECORDS)

  const again = await importRecords('live', RECORDS)
  expect(again).toMatchObject({ stored: 0, grown: 1 })

  const read = async (thread: string) => {
    const { items } = await client.messages.list({ thread })
    return {
      said: items
        .filter(({ role }) => role === 'assistant')
        .map(({ content }) => content)
        .filter((each) => each !== ''),
      calls: items.flatMap(({ toolCalls }) => (toolCalls ?? []).map(({ id }) => id)),
      results: items.filter(({ role }) => role === 'tool_result').map(({ toolCallId }) => toolCallId),
    }
  }
  const [live, whole] = [await read('live'), await read('whole')]
  expect(live.said.sort()).toEqual(whole.said.sort())
  expect(live.calls.sort()).toEqual(whole.calls.sort())
  expect(live.results.sort()).toEqual(whole.results.sort())

  const chat = await client.contexts.build({ thread: 'live', format: 'openai-chat' })
  expect(validateOpenAiChat(chat.messages as never)).toEqual([])
  const messages = await client.contexts.build({ thread: 'live', format: 'anthropic' })
  expect(validateAnthropic(messages as never)).toEqual([])
  const shown = JSON.stringify(chat.messages)
  for (const id of ['one', 'two', 'three']) expect(shown).toContain(`content of ${id}`)
})

test('a reply whose usage figures arrive later is the same reply as the stored one', async () => {
  await importRecords('figures', [RECORDS[0] ?? {}, said('a1', 1, text('Done.'), 1)])
  const again = await importRecords('figures', [RECORDS[0] ?? {}, said('a1', 1, text('Done.'), 99)])
  expect(again).toMatchObject({ stored: 0, repeated: 1, grown: 1 })
})

test('a reply with another text under the same id is still refused', async () => {
  await importRecords('other', [RECORDS[0] ?? {}, said('a1', 1, text('Done.'))])
  const changed = importRecords('other', [RECORDS[0] ?? {}, said('a1', 1, text('Not done.'))])
  await expect(changed).rejects.toMatchObject({ code: 'CONFLICT' })
})
