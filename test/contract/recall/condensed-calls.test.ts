import type { PartialSettings } from '@heddle/contracts'
import { threadIdOf } from '@heddle/core'
import { countPrunings, findArchiveEntry, loadCompaction, openStore } from '@heddle/store'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { clientOn as clientOfSearches, index } from '../search/support.js'
import { append, appendOne, freshStore, PROJECT, prepared, RECEIVED_AT_MS, type TestStore } from '../store/support.js'
import { pruneOnce } from '../summarizing.js'
import { clientOn } from './support.js'

/** The name of {@link PROJECT}. */
const PROJECT_NAME = 'store tests'
const thread = 'written twice'
const settings: PartialSettings = { budget: 4_000, rollingWindow: null }
const threadId = threadIdOf(PROJECT, thread)

const source = (name: string) => `export const ${name} = 1\n`.repeat(60)
const write = (id: string, path: string, content: string) => ({
  id,
  name: 'Write',
  arguments: { file_path: path, content },
})
const first = prepared(
  {
    role: 'assistant',
    content: 'I write both.',
    toolCalls: [write('c1', '/repo/kept.ts', source('kept')), write('c2', '/repo/a.ts', source('first'))],
  },
  { orderedAtMs: RECEIVED_AT_MS },
)

let database: TestStore
beforeAll(async () => {
  database = await freshStore()
  const after = [
    { role: 'tool_result' as const, toolCallId: 'c1', toolName: 'Write', content: 'Written.' },
    { role: 'tool_result' as const, toolCallId: 'c2', toolName: 'Write', content: 'Written.' },
    { role: 'assistant' as const, content: '', toolCalls: [write('c3', '/repo/a.ts', source('second'))] },
    { role: 'tool_result' as const, toolCallId: 'c3', toolName: 'Write', content: 'Written.' },
    ...Array.from({ length: 12 }, (_, index) => ({
      role: index % 2 === 0 ? ('user' as const) : ('assistant' as const),
      content: `Step ${index}. ${'talk '.repeat(140)}`,
    })),
  ].map((message, index) => prepared(message, { orderedAtMs: RECEIVED_AT_MS + 1 + index }))
  await appendOne(database.store, append([first, ...after], { thread }))
  await pruneOnce(database.store, thread, settings)
})
afterAll(() => database.drop())

const client = () => clientOn(database, PROJECT_NAME)

describe('the input of a write that a later one superseded', () => {
  test('is archived at the location of its call, and listed with a reference to it', async () => {
    const { items } = await client().archive.list({ thread, kinds: ['edit'] })
    const [entry, ...others] = items.filter(({ location }) => location !== null)
    expect(others).toEqual([])
    expect(entry).toMatchObject({
      messageId: first.input.id,
      location: 'tool-2',
      ref: expect.stringMatching(/\/msg-[0-9a-z]{8}:tool-2$/),
      kind: 'edit',
      toolName: 'Write',
      filePaths: ['/repo/a.ts'],
      text: expect.stringMatching(/^✏️ Edited \/repo\/a\.ts \[recall:msg-[0-9a-z]{8}:tool-2\]$/),
      accessCount: 0,
    })
    const short = entry?.ref.split('/').at(-1) ?? ''
    expect(entry?.text).toContain(`[recall:${short}]`)
  })

  test('is recalled by that reference byte for byte, which is counted; the call beside it comes from the message', async () => {
    const { items } = await client().archive.list({ thread })
    const ref = items.find(({ location }) => location === 'tool-2')?.ref ?? ''
    const store = openStore({ url: database.url })
    const recalled = await clientOn({ store }, PROJECT_NAME).recall({ ref, maxTokens: 10_000 })
    await store.close()
    const [other, call] = first.input.toolCalls ?? []
    expect(recalled).toMatchObject({
      ref,
      contentType: 'edit',
      filePaths: ['/repo/a.ts'],
      content: JSON.stringify(call),
    })
    const [counted] = (await client().archive.list({ thread })).items.filter(({ accessCount }) => accessCount > 0)
    expect(counted).toMatchObject({ ref, accessCount: 1 })
    const beside = await client().recall({ ref: ref.replace('tool-2', 'tool-1'), maxTokens: 10_000 })
    expect(beside.content).toBe(JSON.stringify(other))
    const whole = await client().recall({ ref: ref.replace(':tool-2', ''), maxTokens: 10_000 })
    expect(whole.content).toBe('I write both.')
  })

  test('is found by a search of the archive for the text of its message, with its location', async () => {
    await index(database, { project: PROJECT_NAME, thread })
    const search = clientOfSearches(database, PROJECT_NAME, {}).archive.search
    const { items } = await search({ query: 'write both', thread, by: 'words' })
    expect(items).toMatchObject([{ messageId: first.input.id, location: 'tool-2', toolName: 'Write' }])
    const edits = await search({ query: 'write both', thread, kinds: ['edit'], by: 'words' })
    expect(edits.items).toEqual(items)
    expect((await search({ query: 'write both', thread, kinds: ['bash'], by: 'words' })).items).toEqual([])
  })

  test('is counted among what compactions condensed', async () => {
    const counts = await database.store.inProject(PROJECT, async (tx) => {
      const found = await loadCompaction(tx, { threadId, settings })
      if (!found) throw new Error('the thread is gone')
      return await countPrunings(tx, { threadId, lane: found.lane.key, clearEpoch: 0 })
    })
    expect(counts.condense).toBeGreaterThan(0)
    expect(counts.tokensFreed).toBeGreaterThan(300)
    const entry = await database.store.inProject(PROJECT, (tx) =>
      findArchiveEntry(tx, { threadId, messageId: first.input.id, location: 'tool-2' }),
    )
    expect(entry).toMatchObject({ location: 'tool-2', tokenCount: expect.any(Number) })
  })
})
