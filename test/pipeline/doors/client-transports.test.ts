import type { RemoteClient } from '@heddle/client/http'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Pipeline } from '../support.js'
import { type Served, servePipeline } from './http-support.js'
import { transports } from './transports.js'

let pipeline: Pipeline
let http: Served

servePipeline((opened) => {
  ;({ pipeline, http } = opened)
})

const user = (content: string) => ({ role: 'user' as const, content })

describe.each(transports)('a client over $transport', ({ open }) => {
  let client: RemoteClient
  beforeAll(async () => {
    client = await open({ pipeline, http }, 'over')
  })

  test('appends once, keeps the order, and reports an id that is taken', async () => {
    const thread = 'a run/1 — ü'
    const messages = Array.from({ length: 7 }, (_, index) => ({
      ...user(`message ${index}`),
      id: `0b7a2b0e-0000-4000-8000-00000000000${index}`,
    }))
    const acknowledged: number[] = []
    const append = { agent: 'coder', thread, messages, onProgress: (count: number) => void acknowledged.push(count) }
    expect(await client.messages.append(append)).toMatchObject({ stored: 7, repeated: 0 })
    expect(await client.messages.append(append)).toMatchObject({ stored: 0, repeated: 7 })
    expect(acknowledged[0]).toBe(7)
    const first = await client.messages.list({ thread, limit: 4 })
    const rest = await client.messages.list({ thread, limit: 4, ...(first.nextCursor && { cursor: first.nextCursor }) })
    expect([...first.items, ...rest.items].map(({ content }) => content)).toEqual(messages.map((each) => each.content))
    expect(rest.nextCursor).toBeNull()
    const other = { ...append, messages: [{ ...user('something else'), id: messages[0]?.id ?? '' }] }
    await expect(client.messages.append(other)).rejects.toMatchObject({ code: 'CONFLICT', disposition: 'conflict' })
  })

  test('refuses invalid input with the same field, before anything is sent', async () => {
    const bad = { agent: 'coder', thread: 'bad', messages: [user('good'), { role: 'king', content: '' }] } as never
    const refused = { code: 'VALIDATION_ERROR', field: 'messages.1.role' }
    await expect(client.messages.append(bad)).rejects.toMatchObject(refused)
    await expect(client.threads.get('bad')).rejects.toMatchObject({ code: 'NOT_FOUND', field: 'thread' })
    const small = client.contexts.build({ thread: 'bad', budget: 'large' as never })
    await expect(small).rejects.toMatchObject({ code: 'VALIDATION_ERROR', field: 'budget' })
  })

  test('lists and searches archived contents, by kind', async () => {
    await client.agents.put('reader', { settings: { budget: 6_000, rollingWindow: null } })
    const messages = Array.from({ length: 40 }, (_, turn) => {
      const call = { id: `call-${turn}`, name: 'Read', arguments: { file_path: `/repo/src/part${turn}.ts` } }
      const content = `export function part${turn}() {\n  return ${turn}\n}\n`.repeat(12)
      return [
        { role: 'assistant' as const, content: '', toolCalls: [call] },
        { role: 'tool_result' as const, toolCallId: call.id, content },
      ]
    }).flat()
    await client.messages.append({ agent: 'reader', thread: 'long', messages })
    const list = (more: Parameters<typeof client.archive.list>[0]) => client.archive.list({ thread: 'long', ...more })
    await expect.poll(async () => (await list({ limit: 2 })).nextCursor, { timeout: 20_000 }).not.toBeNull()

    const { items, nextCursor } = await list({ kinds: ['file_view', 'bash'], failed: false, since: '1h', limit: 2 })
    expect(items).toMatchObject([{ kind: 'file_view', toolName: 'Read' }, { kind: 'file_view' }])
    const [, last] = items
    const rest = await list({ limit: 2, ...(nextCursor !== null && { cursor: nextCursor }) })
    expect(rest.items.map(({ ref }) => ref)).not.toContain(last?.ref)
    const path = last?.filePaths[0] ?? ''
    expect((await list({ path, tool: 'read' })).items).toMatchObject([{ ref: last?.ref }])
    // The words of condensed messages are indexed after they are listed.
    await expect
      .poll(async () => (await client.archive.search({ query: 'export', path })).items, { timeout: 20_000 })
      .toMatchObject([{ ref: last?.ref }])
    for (const none of [{ failed: true }, { kinds: ['grep' as const] }, { until: '1h' }, { tool: 'bash' }])
      expect(await list(none), JSON.stringify(none)).toEqual({ items: [], nextCursor: null })
    await expect(list({ kinds: ['nonsense' as never] })).rejects.toMatchObject({ code: 'VALIDATION_ERROR' })
  })

  test('builds a context, finds it again, and requests one without waiting', async () => {
    await client.messages.append({ agent: 'coder', thread: 'build', messages: [user('what is a heddle?')] })
    const built = await client.contexts.build({ thread: 'build', budget: 4_000, format: 'openai-chat' })
    expect(built).toMatchObject({ budget: 4_000, format: 'openai-chat' })
    expect(await client.contexts.get(built.id)).toEqual(built)
    expect(await client.contexts.find(built.id)).toEqual({ id: built.id, status: 'built', context: built })
    const next = await client.contexts.build({ thread: 'build', budget: 4_000, format: 'openai-chat', message: 'more' })
    const { items, nextCursor } = await client.contexts.list({ thread: 'build', limit: 1 })
    expect(items).toMatchObject([{ id: next.id, thread: 'build', status: 'built', tokensUsed: next.tokensUsed }])
    const older = await client.contexts.list({ thread: 'build', cursor: nextCursor ?? '' })
    expect(older.items.map(({ id }) => id)).toEqual([built.id])
    await expect(client.contexts.list({ thread: 'nowhere' })).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect((await client.archive.list({ thread: 'build' })).items).toEqual([])
    const diff = await client.contexts.diff(built.id, next.id)
    expect(diff).toMatchObject({ before: built.id, after: next.id, wentOut: [], moved: [] })
    expect(diff.cameIn).toMatchObject([{ what: 'message', role: 'user', before: null, after: { mode: 'raw' } }])
    expect(diff.tokens.after - diff.tokens.before).toBeGreaterThan(0)
    await expect(client.contexts.diff(built.id, 'latest')).rejects.toMatchObject({ code: 'VALIDATION_ERROR' })
    const at = new Date(Date.now() - 1).toISOString()
    const again = await client.contexts.build({ thread: 'build', budget: 4_000, format: 'openai-chat', at })
    expect(again).toEqual(built)
    expect(await client.contexts.at({ thread: 'build', at })).toEqual(next)
    await expect(client.contexts.at({ thread: 'nowhere', at })).rejects.toMatchObject({ field: 'thread' })
    const early = { thread: 'build', at: '2026-01-01T00:00:00Z' }
    await expect(client.contexts.at(early)).rejects.toMatchObject({ code: 'NOT_FOUND', field: 'at' })
    const id = await client.contexts.order({ thread: 'build', budget: 4_000 })
    await expect.poll(async () => (await client.contexts.find(id)).status, { timeout: 10_000 }).toBe('built')
    const tiny = client.contexts.build({ thread: 'build', budget: 1 }, { deadlineMs: 20_000 })
    await expect(tiny).rejects.toMatchObject({ code: 'BUDGET_TOO_SMALL', disposition: 'give-up' })
    await expect(client.contexts.build({ thread: 'nowhere' })).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  test('streams contexts as they are built, whoever requested them, and ends when it is aborted', async () => {
    await client.messages.append({ agent: 'coder', thread: 'watched', messages: [user('watch this')] })
    const ending = new AbortController()
    const contexts = await client.contexts.subscribe({ thread: 'watched', signal: ending.signal })
    const built = [
      await client.contexts.build({ thread: 'watched' }),
      await client.contexts.build({ thread: 'watched' }),
    ]
    const seen: string[] = []
    for await (const { id } of contexts) {
      seen.push(id)
      if (seen.length === 2) ending.abort()
    }
    expect(seen).toEqual(built.map(({ id }) => id))
  })

  test('saves the window of an agent as a snapshot, lists it, shows it, and restores it', async () => {
    await client.messages.append({ agent: 'saver', thread: 'saved', messages: [user('keep this')] })
    const saved = await client.snapshots.save({ agent: 'saver', description: 'by hand' })
    expect((await client.snapshots.history('saver')).items).toEqual([saved])
    expect(await client.snapshots.get(saved.id)).toMatchObject({ session_id: saved.id, message_count: 1 })
    expect(await client.snapshots.restore(saved.id)).toMatchObject({ messages: 1, restored: 0, present: 1 })
    await client.agents.clear('saver')
    expect(await client.snapshots.restore(saved.id)).toMatchObject({ restored: 1, threads: ['saved'] })
    await expect(client.snapshots.save({ agent: 'nobody' })).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  test('follows events from a number on', async () => {
    await client.messages.append({ agent: 'coder', thread: 'events', messages: [user('one')] })
    const ending = new AbortController()
    const events = await client.events.follow({ after: 0, topics: ['message.stored'], signal: ending.signal })
    for await (const event of events) {
      expect(event).toMatchObject({ topic: 'message.stored', threadId: expect.any(String) })
      ending.abort()
    }
  })

  test('recalls and searches', async () => {
    const content = `the pelican lands at noon ${'and so on '.repeat(20)}`
    await client.messages.append({ agent: 'coder', thread: 'find', messages: [user(content)] })
    const find = async () => (await client.search({ query: 'pelican', thread: 'find' })).items
    await expect.poll(find, { timeout: 10_000 }).toHaveLength(1)
    const [hit] = await find()
    expect(hit).toMatchObject({ thread: 'find', kind: 'user' })
    expect(await client.recall({ ref: hit?.ref ?? '' })).toMatchObject({ content, messageId: hit?.messageId })
    expect(await client.archive.search({ query: 'pelican' })).toMatchObject({ items: [], isComplete: true })
    await expect(client.recall({ ref: 'msg-00000000', thread: 'find' })).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  test('stores agents, threads, processes and iterations', async () => {
    const agent = await client.agents.put('keeper', { systemPrompt: 'You keep.', settings: { budget: 9_000 } })
    expect(agent).toMatchObject({ name: 'keeper', version: 1, lastClearedAt: null, createdAt: expect.any(String) })
    expect(await client.agents.get('keeper')).toEqual(agent)
    expect(await client.threads.put('kept', { agent: 'keeper', title: 'Keep' })).toMatchObject({ title: 'Keep' })
    expect(await client.threads.get('kept')).toMatchObject({ agent: 'keeper', title: 'Keep', messages: 0 })
    const listed = await client.threads.list({ agent: 'keeper' })
    expect(listed.items).toMatchObject([{ name: 'kept', agent: 'keeper', createdAt: expect.any(String) }])
    const process = await client.processes.put('kept', 'build', { status: 'compiling' })
    expect(await client.processes.get('kept', 'build')).toEqual(process)
    expect((await client.processes.list('kept')).items).toEqual([process])
    const iterations = [{ prompt: 'do it', output: 'done' }]
    expect(await client.iterations.append({ agent: 'keeper', thread: 'kept', iterations })).toMatchObject({ stored: 1 })
    expect((await client.iterations.list('kept', { limit: 1 })).items).toMatchObject([{ prompt: 'do it' }])
    expect(await client.agents.clear('keeper')).toMatchObject({ agent: 'keeper', epoch: 1 })
    expect((await client.agents.list({ limit: 500 })).items.map(({ name }) => name)).toContain('keeper')
    expect(await client.threads.delete('kept')).toMatchObject({ kind: 'thread', name: 'kept' })
  })

  test('stores the items of agents and threads', async () => {
    const rule = await client.items.put('lawyer', { type: 'rule', name: 'be / brief', text: 'Be brief.' })
    expect(rule).toMatchObject({ version: 1, includeMode: 'always', text: 'Be brief.' })
    const key = { type: 'tool', name: 'read', serverName: 'files' } as const
    await client.items.put('lawyer', { ...key, include: 'manual' })
    expect(await client.items.get('lawyer', { type: 'tool', name: 'read' })).toMatchObject(key)
    expect((await client.items.list('lawyer', { type: 'tool' })).items).toMatchObject([key])
    await client.threads.put('case', { agent: 'lawyer' })
    expect([await client.items.addToThread('case', key), await client.items.addToThread('case', key)]).toEqual([
      true,
      false,
    ])
    expect(await client.items.listOfThread('case')).toMatchObject([{ name: 'be / brief', includeMode: 'always' }, key])
    const context = await client.contexts.build({ thread: 'case', message: 'go on' })
    expect(context.items.map(({ name }) => name)).toEqual(['be / brief', 'read'])
    await client.items.removeFromThread('case', key)
    await expect(client.items.removeFromThread('case', key)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect(await client.items.remove('lawyer', { type: 'rule', name: 'be / brief' })).toMatchObject({ version: 1 })
    expect(await client.items.listOfThread('case')).toEqual([])
    expect(await client.items.get('lawyer', { type: 'rule', name: 'be / brief' }, { version: 1 })).toMatchObject({
      text: 'Be brief.',
    })
  })

  test('stores the tools that a server lists, and previews a selection', async () => {
    const tools = [
      { name: 'read_file', description: 'Read the contents of a file' },
      { name: 'send_mail', description: 'Send a mail to somebody' },
    ]
    const synced = await client.items.sync('librarian', 'files', tools, { include: 'agent' })
    expect(synced).toMatchObject({ serverName: 'files', added: ['read_file', 'send_mail'], removed: [] })
    expect(await client.items.sync('librarian', 'files', tools.slice(0, 1))).toMatchObject({ removed: ['send_mail'] })
    expect(await client.items.sync('librarian', 'files', tools)).toMatchObject({ added: ['send_mail'], unchanged: 1 })
    expect(await client.items.setServer('librarian', 'files', { include: 'manual' })).toEqual({
      serverName: 'files',
      include: 'manual',
    })
    const keys = tools.map(({ name }) => ({ type: 'tool' as const, name, serverName: 'files' }))
    const found = await client.items.searchContextItems('librarian', 'read this file, please', keys, { topN: 1 })
    expect(found).toMatchObject([{ ...keys[0], includeMode: 'agent', similarityScore: expect.any(Number) }])
    const refused = client.items.searchContextItems('librarian', 'x', keys, { topK: 0 })
    await expect(refused).rejects.toMatchObject({ code: 'VALIDATION_ERROR', field: expect.stringMatching(/topK$/) })
    await expect(client.items.searchContextItems('nobody', 'x', keys)).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  test('stops when it is aborted, with the reason', async () => {
    const signal = AbortSignal.abort(new Error('enough'))
    const append = client.messages.append({ agent: 'coder', thread: 'aborted', messages: [user('x')], signal })
    await expect(append).rejects.toThrow('enough')
  })
})
