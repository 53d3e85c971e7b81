import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freshStore, newId, prepared, RECEIVED_AT_MS, type TestStore } from '../store/support.js'
import { clientOn, PROJECT_NAME, said, store } from './support.js'

const MINUTE_MS = 60_000
const NOW_MS = RECEIVED_AT_MS + 120 * MINUTE_MS

const at = (minutesAgo: number) => ({ orderedAtMs: NOW_MS - minutesAgo * MINUTE_MS })

describe.each([
  { of: 'indexed messages', add: said },
  { of: 'messages that the embed stage has not reached', add: store },
])('a search of $of', ({ add }) => {
  let database: TestStore
  beforeAll(async () => {
    database = await freshStore()
    const view = { id: 'call 1', name: 'Read', arguments: { file_path: '/repo/src/app/parse-tokens.ts' } }
    const run = { id: 'call 2', name: 'Bash', arguments: { command: 'npm test' } }
    await add(database, { thread: 'parser' }, [
      prepared({ content: 'Why does getUserById refuse the connection?', sourceId: 'question' }, at(100)),
      prepared({ role: 'assistant', content: 'I will read the tokenizer.', toolCalls: [view] }, at(90)),
      prepared({ role: 'tool_result', toolCallId: 'call 1', toolName: 'Read', content: 'const kept = 1' }, at(80)),
      prepared({ role: 'assistant', content: '', toolCalls: [run] }, at(20)),
      prepared(
        { role: 'tool_result', toolCallId: 'call 2', toolName: 'Bash', content: 'all 12 suites passed' },
        at(10),
      ),
    ])
    await add(database, { thread: 'holidays' }, [
      prepared({ content: 'We hiked near the lake with the dogs', metadata: { name: 'Caroline' } }, at(50)),
      prepared({ content: 'We hiked near the lake with the dogs', metadata: { name: 'Melanie' } }, at(50)),
      prepared({ content: 'That was on 2026-02-12.' }, at(49)),
    ])
    await add(database, { agent: 'other', thread: 'elsewhere' }, [
      prepared({ content: 'a connection of another agent' }),
    ])
    await add(database, { project: 'next door', thread: 'parser' }, [prepared({ content: 'getUserById next door' })])
  })
  afterAll(() => database.drop())

  const client = (project = PROJECT_NAME) =>
    clientOn(database, project, {
      clock: { nowMs: () => NOW_MS, monotonicMs: () => 0, wait: () => Promise.resolve(), after: () => () => {} },
    })
  const found = async (query: string, conditions = {}, project?: string) =>
    (await client(project).search({ query, ...conditions })).items.map(({ thread, text }) => `${thread}: ${text}`)

  it('finds words with any ending, and names of code as a whole and in parts', async () => {
    for (const query of ['getUserById', 'get user by id', 'connections refused', 'GETUSERBYID']) {
      expect((await found(query))[0]).toBe('parser: Why does getUserById refuse the connection?')
    }
    expect((await found('2026-02-12'))[0]).toBe('holidays: That was on 2026-02-12.')
    expect(await found('zebra')).toEqual([])
  })

  it('finds a tool result by the file that it shows, and says what it is', async () => {
    const { items } = await client().search({ query: 'parse-tokens.ts', kinds: ['file_view'] })
    expect(items).toMatchObject([{ kind: 'file_view', text: 'const kept = 1', thread: 'parser' }])
  })

  it('returns for each hit its kind, a reference that recalls it, and its neighbours', async () => {
    const { items } = await client().search({ query: 'tokenizer', thread: 'parser' })
    // The file that a tool showed comes before the reply that announces it.
    expect(items.slice(0, 2).map(({ kind }) => kind)).toEqual(['file_view', 'assistant'])
    const hit = items[1]
    expect(hit).toMatchObject({
      kind: 'assistant',
      at: new Date(NOW_MS - 90 * MINUTE_MS).toISOString(),
      before: { role: 'user', text: 'Why does getUserById refuse the connection?' },
      after: { role: 'tool_result', text: 'const kept = 1' },
    })
    expect(hit?.score).toBeGreaterThan(0)
    expect(await client().recall({ ref: hit?.ref ?? '' })).toMatchObject({ messageId: hit?.messageId })
    const [first] = (await client().search({ query: 'getUserById' })).items
    expect(first).toMatchObject({ sourceId: 'question', before: null })
  })

  it('ranks messages of a person higher when the query names that person', async () => {
    for (const name of ['Caroline', 'Melanie']) {
      const [best] = (await client().search({ query: `When did ${name} hike?` })).items
      const message = (await client().messages.list({ thread: 'holidays' })).items.find(
        ({ id }) => id === best?.messageId,
      )
      expect(message?.metadata).toEqual({ name })
    }
  })

  it.each([
    [{ agent: 'other' }, ['elsewhere']],
    [{ thread: 'parser' }, ['parser']],
    [{ agent: 'weaver', thread: 'parser' }, ['parser']],
    [{}, ['elsewhere', 'parser']],
    [{ kinds: ['user' as const] }, ['elsewhere', 'parser']],
    [{ kinds: ['system' as const] }, []],
    [{ since: '105m' }, ['parser']],
    [{ thread: 'parser', since: '15m' }, []],
    [{ until: '110m' }, ['elsewhere']],
  ])('with %j returns only matching messages', async (conditions, expected) => {
    const { items, isComplete } = await client().search({ query: 'connection', ...conditions })
    expect([...new Set(items.map(({ thread }) => thread))].sort()).toEqual(expected)
    expect(isComplete).toBe(true)
  })

  it.each([
    ['/repo', 2],
    ['src/app', 2],
    ['parse-tokens.ts', 2],
    ['./src/app/parse-tokens.ts', 2],
    ['repo/app', 0],
    ['tokens.ts', 0],
    ['%', 0],
  ])('for the path %s returns %i messages: the call and its result', async (path, count) => {
    expect(await found('tokens', { path })).toHaveLength(count)
  })

  it('never leaves its project', async () => {
    expect(await found('getUserById', {}, 'next door')).toEqual(['parser: getUserById next door'])
    expect(await found('getUserById', {}, 'nobody')).toEqual([])
    expect((await found('next door')).join()).not.toContain('next door')
  })

  it.each([
    [{ query: ' ' }, 'VALIDATION_ERROR'],
    [{ query: 'x '.repeat(600) }, 'PAYLOAD_TOO_LARGE'],
    [{ query: 'x', kinds: ['nonsense'] }, 'VALIDATION_ERROR'],
    [{ query: 'x', since: 'yesterday' }, 'VALIDATION_ERROR'],
    [{ query: 'x', path: '\0' }, 'VALIDATION_ERROR'],
    [{ query: 'x', limit: 0 }, 'VALIDATION_ERROR'],
    [{ query: 'x', order: 'asc' }, 'VALIDATION_ERROR'],
    [{ query: 'x', agent: 'nobody' }, 'NOT_FOUND'],
    [{ query: 'x', thread: 'nowhere' }, 'NOT_FOUND'],
    [{ query: 'x', thread: 'parser', agent: 'other' }, 'NOT_FOUND'],
  ])('refuses %j with a typed error', async (request, code) => {
    await expect(client().search(request as { query: string })).rejects.toMatchObject({ code })
  })

  it('treats any text as plain words', async () => {
    for (const query of ['\0', '\ud800', "'; drop table", '%_\\', '((((', '…', '=kind user']) {
      expect((await client().search({ query })).isComplete).toBe(true)
    }
  })

  it('of a thread without indexed words finds nothing', async () => {
    const silent = `silent ${newId()}`
    await add(database, { thread: silent }, [prepared({ content: '' })])
    expect(await found('connection', { thread: silent })).toEqual([])
  })
})
