import type { MessageInput } from '@heddle/contracts'
import { beforeAll, describe, expect, test } from 'vitest'
import { pipelineOfTests } from '../support.js'

const of = pipelineOfTests()
const [AGENT, ORIGIN, FORK] = ['ferry', 'crossing', 'detour']
const TURNS = 30
/** The messages of ten turns. */
const SHARED = 40

/** A request, a call, a long result and a reply for each turn; each turn names a port of its own. */
const conversation = () =>
  Array.from({ length: TURNS }, (_, turn): Omit<MessageInput, 'id'>[] => {
    const call = { id: `call-${turn}`, name: 'Read', arguments: { file_path: `/ports/harbour${turn}.txt` } }
    return [
      { role: 'user', content: `Look into harbour${turn}.` },
      { role: 'assistant', content: '', toolCalls: [call] },
      { role: 'tool_result', toolCallId: call.id, content: `berth of harbour${turn}: lighthouse${turn}\n`.repeat(60) },
      { role: 'assistant', content: `The berth of harbour${turn} is at lighthouse${turn}.` },
    ]
  }).flat()

/** The lines of an export, to be read again and again. */
async function exportOf(thread: string): Promise<() => AsyncIterable<string>> {
  const lines: string[] = []
  for await (const line of of.pipeline.client.threads.export(thread)) lines.push(line)
  return async function* () {
    yield* lines
  }
}

describe('a fork', () => {
  const client = () => of.pipeline.client
  beforeAll(async () => {
    await of.start()
    await client().agents.put(AGENT, { settings: { rollingWindow: null, budget: 4_000 } })
    await client().messages.append({ agent: AGENT, thread: ORIGIN, messages: conversation() })
    await client().threads.waitUntilSettled(ORIGIN)
    await client().threads.fork(ORIGIN, { at: SHARED, name: FORK })
    await client().messages.append({
      agent: AGENT,
      thread: FORK,
      messages: [{ role: 'user', content: 'Turn back to the buoy.' }],
    })
    await client().threads.waitUntilSettled(FORK)
  })

  test('finds what it shares and what it has of its own, and nothing that came later in its origin', async () => {
    const found = async (query: string) => (await client().search({ query, thread: FORK, by: 'words' })).items
    const shared = await found('lighthouse4')
    expect(shared[0]?.text).toContain('lighthouse4')
    expect(Math.max(...shared.map(({ seq }) => seq))).toBeLessThanOrEqual(SHARED)
    expect((await found('buoy')).map(({ thread, seq }) => [thread, seq])).toEqual([[FORK, SHARED + 1]])
    expect((await found('harbour25')).filter(({ text }) => text.includes('25'))).toEqual([])
  })

  test('recalls a shared result byte for byte, and lists the archive of what it shares', async () => {
    const shared = (await client().messages.list({ thread: FORK, limit: 100, order: 'asc' })).items
    expect(shared).toHaveLength(SHARED + 1)
    const result = shared[2]
    const recalled = await client().recall({ ref: result?.reference ?? '', thread: FORK, maxTokens: 16_000 })
    expect(recalled.content).toBe(result?.content)
    const archived = (await client().archive.list({ thread: FORK, limit: 100 })).items
    expect(archived.length).toBeGreaterThan(0)
    const later = archived.filter(({ filePaths }) => filePaths.some((path) => /harbour[12]\d/.test(path)))
    expect(later).toEqual([])
  })

  test('is exported whole, imported elsewhere with equal messages, and over itself without a change', async () => {
    const read = await exportOf(FORK)
    await client().threads.import(read, { as: 'elsewhere' })
    const contents = async (thread: string) =>
      (await client().messages.list({ thread, limit: 100, order: 'asc' })).items.map(({ content }) => content)
    expect(await contents('elsewhere')).toEqual(await contents(FORK))
    expect((await client().threads.import(read)).added.message ?? 0).toBe(0)
    expect(await contents(FORK)).toEqual(await contents('elsewhere'))
  })

  test('refuses the file of another conversation, whose first messages it shares no more than any', async () => {
    await of.start()
    await client().messages.append({
      agent: AGENT,
      thread: 'another',
      messages: [{ role: 'user', content: 'Another beginning.' }],
    })
    const read = await exportOf('another')
    await expect(client().threads.import(read, { as: FORK })).rejects.toMatchObject({ code: 'CONFLICT' })
  })

  test('asked for twice at once under one name is one fork', async () => {
    const fork = () => client().threads.fork(ORIGIN, { at: 8, name: 'twins' })
    const made = await Promise.all([fork(), fork()])
    expect(made.filter(({ isNew }) => isNew)).toHaveLength(1)
    expect(new Set(made.map(({ threadId }) => threadId)).size).toBe(1)
  })
})
