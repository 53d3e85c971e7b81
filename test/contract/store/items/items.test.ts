import { type ItemKey, limits, type NewItem } from '@heddle/contracts'
import { projectIdOf, threadIdOf } from '@heddle/core'
import { createClient } from '@heddle/engine'
import type { Queues } from '@heddle/queue'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freshStore, type TestStore } from '../support.js'

let database: TestStore
beforeAll(async () => {
  database = await freshStore()
})
afterAll(() => database.drop())

let names = 0
/** An agent and a thread of their own. */
function fresh(project = 'items') {
  const client = createClient({ store: database.store, queues: null, project })
  const agent = `agent ${++names}`
  const thread = `thread ${names}`
  return {
    client,
    agent,
    thread,
    put: (item: Partial<NewItem> & { name: string }) => client.items.put(agent, { type: 'rule', ...item }),
    start: () => client.threads.put(thread, { agent }),
    held: async () => (await client.items.listOfThread(thread)).map(({ name, includeMode }) => [name, includeMode]),
  }
}

const rule = (name: string): ItemKey => ({ type: 'rule', name })

describe('an item', () => {
  test('is stored with all its fields, and found under its name', async () => {
    const { client, agent, put } = fresh()
    const given = {
      name: 'auth',
      description: 'How to sign in',
      text: 'Use tokens.',
      include: 'agent',
      priorityLevel: 3,
    } as const
    const kept = await put(given)
    expect(kept).toMatchObject({ ...given, type: 'rule', version: 1, includeMode: 'agent' })
    const { threadsWithout, ...item } = kept
    expect(threadsWithout).toEqual([])
    expect(await client.items.get(agent, rule('auth'))).toEqual(item)
    await expect(client.items.get(agent, rule('other'))).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(client.items.get('nobody', rule('auth'))).rejects.toMatchObject({ code: 'NOT_FOUND', field: 'agent' })
  })

  test('that is large makes its page shorter, and no item is skipped', async () => {
    const { client, agent, put } = fresh()
    const text = 'x'.repeat(1_000_000)
    const names = Array.from({ length: 12 }, (_, index) => `rule ${10 + index}`)
    for (const name of names) await put({ name, text })
    const pages: string[][] = []
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = await client.items.list(agent, cursor === undefined ? {} : { cursor })
      pages.push(page.items.map(({ name }) => name))
      cursor = page.nextCursor
    }
    expect(pages.flat()).toEqual(names)
    expect(pages.map((page) => page.length)).toEqual([8, 4])
  })

  test('gets a version with each change and not without one, and absent fields keep their values', async () => {
    const { client, agent, put } = fresh()
    await put({ name: 'a', text: 'one', include: 'manual' })
    expect(await put({ name: 'a', text: 'one' })).toMatchObject({ version: 1 })
    expect(await put({ name: 'a', text: 'two' })).toMatchObject({ version: 2, text: 'two', include: 'manual' })
    expect(await client.items.get(agent, rule('a'), { version: 1 })).toMatchObject({ version: 1, text: 'one' })
  })

  test('that was removed is not listed, its versions stay readable, and its name can be used again', async () => {
    const { client, agent, put } = fresh()
    const { itemId } = await put({ name: 'a', text: 'one', include: 'manual' })
    await client.items.remove(agent, rule('a'))
    await expect(client.items.get(agent, rule('a'))).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(client.items.remove(agent, rule('a'))).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect(await client.items.get(agent, rule('a'), { version: 1 })).toMatchObject({ text: 'one', erased: false })
    expect(await client.items.get(agent, rule('a'), { version: 2 })).toMatchObject({ text: '', erased: true })
    expect(await put({ name: 'a', text: 'new' })).toMatchObject({ itemId, version: 3, text: 'new', include: null })
  })

  test('of type tool names its server; a text, a schema or a level is accepted only for types that use it', async () => {
    const { put } = fresh()
    const wrong = [
      [{ name: 't', type: 'tool' }, 'serverName'],
      [{ name: 'r', serverName: 'files' }, 'serverName'],
      [{ name: 't', type: 'tool', serverName: 'files', text: 'x' }, 'text'],
      [{ name: 't', type: 'tool', serverName: 'files', priorityLevel: 1 }, 'priorityLevel'],
      [{ name: 'r', inputSchema: {} }, 'inputSchema'],
      [{ name: 'r', include: 'never' as never }, 'include'],
      [{ name: 'r', text: 'a\0b' }, 'text'],
    ] as const
    for (const [item, field] of wrong) {
      await expect(put(item)).rejects.toMatchObject({ code: 'VALIDATION_ERROR', field: expect.stringContaining(field) })
    }
  })

  test('is listed by type, server and name, page by page', async () => {
    const { client, agent, put } = fresh()
    for (const name of ['b', 'a', 'c']) await put({ name })
    await put({ name: 'z', type: 'reference' })
    await put({ name: 'read', type: 'tool', serverName: 'web' })
    await put({ name: 'read', type: 'tool', serverName: 'files' })
    const seen: string[] = []
    let cursor: string | undefined
    do {
      const page = await client.items.list(agent, { limit: 2, ...(cursor !== undefined && { cursor }) })
      seen.push(...page.items.map(({ serverName = '', name }) => `${serverName}.${name}`))
      cursor = page.nextCursor ?? undefined
    } while (cursor !== undefined)
    expect(seen).toEqual(['.z', '.a', '.b', '.c', 'files.read', 'web.read'])
    expect((await client.items.list(agent, { type: 'tool', serverName: 'web' })).items).toHaveLength(1)
  })

  test('is not visible from another project', async () => {
    const { agent, put } = fresh()
    await put({ name: 'a' })
    await expect(fresh('elsewhere').client.items.get(agent, rule('a'))).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })
})

describe('a tool', () => {
  const tool = (name: string, fields = {}) => ({ type: 'tool', serverName: 'files', name, ...fields }) as const

  test('has the mode of its server unless it has a mode of its own', async () => {
    const { client, agent, put } = fresh()
    await put(tool('read'))
    await put(tool('write', { include: 'manual' }))
    const modes = async () => (await client.items.list(agent)).items.map(({ name, includeMode }) => [name, includeMode])
    expect(await modes()).toEqual([
      ['read', 'always'],
      ['write', 'manual'],
    ])
    await client.items.setServer(agent, 'files', { include: 'agent' })
    expect(await modes()).toEqual([
      ['read', 'agent'],
      ['write', 'manual'],
    ])
  })

  test('is found without its server as long as only one server has it', async () => {
    const { client, agent, put } = fresh()
    await put(tool('read'))
    expect(await client.items.get(agent, { type: 'tool', name: 'read' })).toMatchObject({ serverName: 'files' })
    await put({ ...tool('read'), serverName: 'web' })
    await expect(client.items.get(agent, { type: 'tool', name: 'read' })).rejects.toMatchObject({
      code: 'AMBIGUOUS_REFERENCE',
      facts: { candidates: ['tool files.read', 'tool web.read'] },
    })
  })

  test('is added, changed and removed with the list of its server, and keeps a mode that was set by hand', async () => {
    const { client, agent, put } = fresh()
    await put({ name: 'a rule' })
    const first = [
      { name: 'read', description: 'Reads' },
      { name: 'write', description: 'Writes', inputSchema: { type: 'object' } },
    ]
    expect(await client.items.sync(agent, 'files', first, { include: 'agent' })).toEqual({
      serverName: 'files',
      added: ['read', 'write'],
      changed: [],
      removed: [],
      unchanged: 0,
      threadsWithout: [],
    })
    await put(tool('read', { include: 'manual' }))
    const second = [{ name: 'read', description: 'Reads a file' }, { name: 'list' }]
    expect(await client.items.sync(agent, 'files', second)).toEqual({
      serverName: 'files',
      added: ['list'],
      changed: ['read'],
      removed: ['write'],
      unchanged: 0,
      threadsWithout: [],
    })
    expect(await client.items.sync(agent, 'files', second)).toMatchObject({
      added: [],
      changed: [],
      removed: [],
      unchanged: 2,
    })
    const { items } = await client.items.list(agent, { type: 'tool' })
    expect(items.map(({ name, includeMode, description }) => [name, includeMode, description])).toEqual([
      ['list', 'agent', null],
      ['read', 'manual', 'Reads a file'],
    ])
    expect((await client.items.list(agent)).items).toHaveLength(3)
  })
})

describe('the items of a thread', () => {
  test('are those with the mode always when it starts, and no later ones', async () => {
    const { put, start, held } = fresh()
    await put({ name: 'a', include: 'always' })
    await put({ name: 'by hand', include: 'manual' })
    await put({ name: 'by meaning', include: 'agent' })
    await put({ name: 'read', type: 'tool', serverName: 'files' })
    await start()
    await put({ name: 'later', include: 'always' })
    expect(await held()).toEqual([
      ['a', 'always'],
      ['read', 'always'],
    ])
  })

  test('are added and removed by hand, whatever their mode', async () => {
    const { client, thread, put, start, held } = fresh()
    await put({ name: 'a', include: 'always' })
    await put({ name: 'b', include: 'agent' })
    await start()
    expect(await client.items.addToThread(thread, rule('b'))).toBe(true)
    expect(await client.items.addToThread(thread, rule('b'))).toBe(false)
    expect(await client.items.addToThread(thread, rule('a'))).toBe(false)
    expect(await held()).toEqual([
      ['a', 'always'],
      ['b', 'manual'],
    ])
    await client.items.removeFromThread(thread, rule('a'))
    await expect(client.items.removeFromThread(thread, rule('a'))).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect(await held()).toEqual([['b', 'manual']])
    await client.items.addToThread(thread, rule('a'))
    expect(await held()).toEqual([
      ['a', 'manual'],
      ['b', 'manual'],
    ])
    await expect(client.items.addToThread(thread, rule('none'))).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(client.items.addToThread('no thread', rule('a'))).rejects.toMatchObject({ field: 'thread' })
  })

  test('are names: a changed item shows at once, an erased one disappears, and a new one of that name shows again', async () => {
    const { client, agent, thread, put, start, held } = fresh()
    await put({ name: 'a', text: 'one' })
    await start()
    await put({ name: 'a', text: 'two', include: 'manual' })
    expect(await client.items.listOfThread(thread)).toMatchObject([{ text: 'two', includeMode: 'always' }])
    await client.items.remove(agent, rule('a'))
    expect(await held()).toEqual([])
    await put({ name: 'a', text: 'three' })
    expect(await client.items.listOfThread(thread)).toMatchObject([{ text: 'three', version: 4 }])
    await client.items.remove(agent, rule('a'))
    await client.items.removeFromThread(thread, rule('a'))
  })

  test('are added and removed a limited number of times, so that the reads of a context have a limit', async () => {
    const { client, thread, put, start, held } = fresh()
    const { itemId } = await put({ name: 'a' })
    await start()
    const projectId = projectIdOf('items')
    await database.store.inProject(
      projectId,
      (tx) => tx`
        insert into heddle.thread_items (thread_id, item_id, version, include_mode, removed)
        select ${threadIdOf(projectId, thread)}, ${itemId}, version, 'manual', version % 2 = 0
        from generate_series(2, ${limits.threadItemChangesMax}) as version`,
    )
    await expect(client.items.addToThread(thread, rule('a'))).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
      field: 'item',
      message: expect.stringContaining(String(limits.threadItemChangesMax)),
    })
    expect(await held()).toEqual([])
  })

  test('are erased with the thread, and an agent is erased with all of its items', async () => {
    const { client, agent, thread, put, start } = fresh()
    const queues = { removeJobs: async () => 0 } as unknown as Queues
    const erasing = createClient({ store: database.store, queues, project: 'items' })
    await put({ name: 'a' })
    await put({ name: 'a', text: 'two' })
    await client.items.setServer(agent, 'files', { include: 'agent' })
    await start()
    expect((await erasing.threads.delete(thread)).removed).toMatchObject({ thread_items: 1 })
    expect((await erasing.agents.delete(agent)).removed).toMatchObject({ items: 1, item_versions: 2, tool_servers: 1 })
    await expect(put({ name: 'a' })).rejects.toMatchObject({ code: 'CONFLICT' })
  })
})
