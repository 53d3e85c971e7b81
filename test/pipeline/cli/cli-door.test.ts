import { execFileSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { createClient } from '@heddle/engine'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Served, serve } from '../doors/http-support.js'
import { openPipeline, type Pipeline } from '../support.js'
import { type Home, openHome } from './cli-support.js'

const ODD_SERVER = fileURLToPath(new URL('../doors/odd-mcp-server.mjs', import.meta.url))

let pipeline: Pipeline
let http: Served
/** A machine with the store, and another one that knows only the address of the gateway. */
let home: Home
let away: Home

beforeAll(async () => {
  pipeline = await openPipeline()
  await pipeline.start()
  http = await serve(pipeline)
  home = await openHome(pipeline.environment)
  const messages = [{ role: 'user' as const, content: 'the pelican lands at noon' }]
  await pipeline.clientOf('shop').messages.append({ agent: 'coder', thread: 'run', messages })
  const { key } = await pipeline.clientOf('shop').keys.create({ name: 'away', role: 'agent' })
  away = await openHome({ HEDDLE_URL: http.url, HEDDLE_KEY: key })
})
afterAll(async () => {
  await http?.gateway.close()
  await pipeline?.close()
})

test('heddle open prints the address of the page, or says that no gateway runs here', async () => {
  const opened = await away.heddle('open', '--no-browser', '--json')
  expect(opened.document).toEqual({ address: `${http.url}/ui/`, isOpened: false })
  const alone = await openHome()
  const refused = await alone.heddle('open', '--no-browser', '--json')
  expect(refused).toMatchObject({ code: 1, error: { code: 'SERVICE_UNAVAILABLE', field: 'data' } })
})

describe('heddle keys', () => {
  test('creates a key that the gateway accepts, lists it without its secret, and revokes it', async () => {
    const { document: made } = await home.heddle(
      'keys',
      'create',
      '--name',
      'bot',
      '--role',
      'read',
      '--project',
      'toys',
      '--json',
    )
    expect(made).toMatchObject({ name: 'bot', role: 'read', key: expect.stringMatching(/^hdl_/) })
    const headers = { authorization: `Bearer ${made.key}` }
    expect((await http.ask('GET', '/v1/agents', { headers })).status).toBe(200)

    const listed = await home.heddle('keys', 'list', '--project', 'toys', '--json')
    expect(listed.document.items).toMatchObject([{ id: made.id, name: 'bot', role: 'read', revokedAt: null }])
    expect(listed.stdout).not.toContain(made.key)
    expect((await home.heddle('keys', 'list', '--json')).document.items).toEqual([])
    expect((await home.heddle('keys', 'list')).stdout).toContain('heddle keys create')

    const revoked = await home.heddle('keys', 'revoke', made.id, '--project', 'toys')
    expect([revoked.code, revoked.stdout]).toEqual([0, `key ${made.id} "bot" is revoked\n`])
    const after = (await home.heddle('keys', 'list', '--project', 'toys', '--json')).document.items
    expect(after).toMatchObject([{ id: made.id, revokedAt: expect.any(String) }])
  })

  test('shows a new key once, and says how to send it', async () => {
    const { stdout } = await home.heddle('keys', 'create', '--name', 'bot', '--role', 'produce', '--project', 'games')
    expect(stdout).toMatch(/^hdl_[\w-]+\n\nkey [\w-]{36} "bot" of project games, role produce\nIt is not shown again\./)
  })

  test('refuses unknown roles, and ids of other projects', async () => {
    const bad = await home.heddle('keys', 'create', '--name', 'bot', '--role', 'king', '--json')
    expect(bad).toMatchObject({ code: 2, error: { field: 'role', received: expect.stringContaining('king') } })
    const [key] = (await home.heddle('keys', 'list', '--project', 'shop', '--json')).document.items
    const foreign = await home.heddle('keys', 'revoke', key.id, '--project', 'games', '--json')
    expect(foreign).toMatchObject({ code: 1, error: { code: 'NOT_FOUND' } })
  })
})

test('heddle grants: recall between two projects is allowed once both agreed, until one ends it', async () => {
  const messages = [{ role: 'user' as const, content: 'the recipe of the house' }]
  await pipeline.clientOf('lender').messages.append({ agent: 'cook', thread: 'kitchen', messages })
  const { items } = await pipeline.clientOf('lender').messages.list({ thread: 'kitchen' })
  const ref = `nexora://lender/kitchen/${items[0]?.reference}`
  const recall = () => home.heddle('recall', ref, '--project', 'reader', '--json')

  expect((await recall()).code).toBe(1)
  const offered = await home.heddle('grants', 'offer', '--to', 'reader', '--project', 'lender', '--json')
  expect(offered.document).toEqual({ status: 'offered', project: 'lender', other: 'reader', scope: 'recall' })
  expect((await recall()).code).toBe(1)
  expect((await home.heddle('grants', 'list', '--project', 'lender')).stdout).toContain('not yet')
  expect((await home.heddle('grants', 'accept', '--from', 'lender', '--project', 'reader')).code).toBe(0)
  expect((await recall()).document).toMatchObject({ content: 'the recipe of the house' })
  await home.heddle('grants', 'revoke', '--to', 'reader', '--project', 'lender')
  expect((await recall()).code).toBe(1)

  const neither = await home.heddle('grants', 'revoke', '--project', 'lender', '--json')
  expect(neither).toMatchObject({ code: 2, error: { field: 'to', received: 'none' } })
  const nothing = await home.heddle('grants', 'accept', '--from', 'stranger', '--project', 'reader', '--json')
  expect(nothing).toMatchObject({ code: 1, error: { code: 'NOT_FOUND' } })
})

describe('with a remote gateway', () => {
  test('contexts are built and shown, and messages recalled and searched, without a local store', async () => {
    const built = await away.heddle('context', 'build', '--thread', 'run', '--budget', '4000', '--json')
    expect(built.document).toMatchObject({ thread: 'run', messages: [{ content: 'the pelican lands at noon' }] })
    const shown = await away.heddle('context', 'show', built.document.id, '--messages')
    expect(shown.stdout).toContain('user: the pelican lands at noon')
    const find = async () => (await away.heddle('search', 'pelican', '--json')).document.items
    await expect.poll(find, { timeout: 10_000 }).toHaveLength(1)
    const [{ ref }] = await find()
    expect((await away.heddle('recall', ref)).stdout).toBe('the pelican lands at noon')
    expect((await away.heddle('recall', ref, '--lines', '1')).stdout).toBe('the pelican lands at noon')
    const listed = await away.heddle(
      'recall',
      '--thread',
      'run',
      '--kind',
      'bash',
      '--failed',
      '--since',
      '1h',
      '--json',
    )
    expect(listed).toMatchObject({ code: 0, document: { items: [], nextCursor: null } })
    const nowhere = await away.heddle('recall', '--thread', 'nowhere', '--json')
    expect(nowhere).toMatchObject({ code: 1, error: { code: 'NOT_FOUND', field: 'thread' } })
  })

  test('sessions are imported, and a reply that grew since the last import is continued', async () => {
    const { key } = await pipeline.clientOf('shop').keys.create({ name: 'admin', role: 'admin' })
    const admin = await openHome({ HEDDLE_URL: http.url, HEDDLE_KEY: key })
    const line = (content: string, id: string, role: string) => JSON.stringify({ id, role, content })
    const ids = ['0198d0a4-0000-7000-8000-000000000001', '0198d0a4-0000-7000-8000-000000000002'] as const
    const write = (reply: string) =>
      writeFile(admin.path('shipped.jsonl'), `${line('go', ids[0], 'user')}\n${line(reply, ids[1], 'assistant')}\n`)
    const bring = async () => (await admin.heddle('import', 'shipped.jsonl', '--agent', 'shipper', '--json')).document
    await write('the first half')
    expect(await bring()).toMatchObject({ stored: 2, repeated: 0, threads: [{ eligible: 2, imported: 2, grown: 0 }] })
    expect(await bring()).toMatchObject({ stored: 0, repeated: 2 })
    await write('the first half, and the second')
    expect(await bring()).toMatchObject({ stored: 1, threads: [{ imported: 3, grown: 1 }] })
    const history = (await admin.heddle('threads', 'history', 'shipped', '--json')).document.items
    expect(history.map(({ content }: { content: string }) => content)).toContain(', and the second')

    // A key of the role agent creates an agent whose window includes recorded sessions.
    const old = { id: ids[0], role: 'user', content: 'go', sentAt: '2025-02-12T14:30:00Z' }
    await writeFile(away.path('away.jsonl'), `${JSON.stringify(old)}\n`)
    const sent = await away.heddle('import', 'away.jsonl', '--agent', 'newcomer', '--json')
    expect(sent.document).toMatchObject({ stored: 1, warnings: [], threads: [{ eligible: 1, imported: 1 }] })
    expect((await pipeline.clientOf('shop').agents.get('newcomer')).settings).toEqual({ rollingWindow: null })
  })

  test('agents, settings, items, threads, iterations and snapshots are stored and shown', async () => {
    const { key } = await pipeline.clientOf('desk').keys.create({ name: 'admin', role: 'admin' })
    const desk = await openHome({ HEDDLE_URL: http.url, HEDDLE_KEY: key })
    const heddle = async (...argv: string[]) => {
      const ran = await desk.heddle(...argv, '--json')
      expect(ran.stderr).toBe('')
      return ran.document
    }
    await writeFile(desk.path('style.md'), 'Short sentences.')
    expect(await heddle('agents', 'set', 'scribe', '--prompt', 'You write.', '--doc', 'style=style.md')).toMatchObject({
      systemPrompt: 'You write.',
      docs: [{ name: 'style', text: 'Short sentences.' }],
    })
    await heddle('settings', 'set', 'rolling_window', 'none', '--agent', 'scribe')
    await heddle('settings', 'set', 'prune.keepLastN', '4', '--agent', 'scribe')
    const window = await heddle('settings', 'show', 'prune.keepLastN', '--agent', 'scribe')
    expect(window).toMatchObject({ value: 4, from: 'agent', source: 'scribe', default: 10 })
    await heddle('settings', 'remove', 'prune.keepLastN', '--agent', 'scribe')
    expect((await heddle('agents', 'show', 'scribe')).settings).toEqual({ rollingWindow: null })

    await heddle('items', 'set', 'rule', 'tone', '--agent', 'scribe', '--text', 'Be kind.', '--include', 'always')
    expect((await heddle('items', 'list', '--agent', 'scribe')).items).toMatchObject([{ name: 'tone' }])
    // This machine queries the server; the tools go to the gateway.
    await writeFile(
      desk.path('told.json'),
      JSON.stringify({ pages: [[{ name: 'spell', inputSchema: { type: 'object' } }]] }),
    )
    const server = ['--server', 'words', '--command', process.execPath, ODD_SERVER, 'told.json']
    expect(await heddle('items', 'sync', '--agent', 'scribe', ...server)).toMatchObject({
      added: expect.arrayContaining(['spell']),
    })
    expect(await pipeline.clientOf('desk').items.get('scribe', { type: 'tool', name: 'spell' })).toMatchObject({
      serverName: 'words',
    })
    await heddle('threads', 'set', 'letter', '--agent', 'scribe', '--title', 'A letter')
    await heddle('threads', 'processes', 'letter', '--set', 'draft', '--status', 'half done')
    expect((await heddle('threads', 'processes', 'letter')).items).toMatchObject([{ name: 'draft' }])
    await heddle('iterations', 'add', 'letter', '--agent', 'scribe', '--prompt', 'p', '--output', 'o')
    expect(await heddle('threads', 'export', 'letter', '--out', 'letter.jsonl')).toMatchObject({ thread: 'letter' })
    expect(await heddle('threads', 'import', 'letter.jsonl', '--as', 'draft')).toMatchObject({ thread: 'draft' })
    await heddle('threads', 'remove', 'draft', '--yes')
    expect((await heddle('iterations', 'list', 'letter')).items).toMatchObject([{ iterationNumber: 1 }])
    expect(await heddle('iterations', 'loop', 'letter')).toMatchObject({ thread: 'letter', totalIterations: 1 })
    expect(await heddle('context', 'prune', '--thread', 'letter', '--dry-run')).toMatchObject({ due: false })

    const messages = [{ role: 'user' as const, content: 'Dear reader' }]
    await pipeline.clientOf('desk').messages.append({ agent: 'scribe', thread: 'letter', messages })
    const before = await heddle('context', 'build', '--thread', 'letter')
    const saved = await heddle('context', 'save', '--agent', 'scribe', '--description', 'the draft')
    expect(await heddle('context', 'clear', '--agent', 'scribe')).toMatchObject({ agent: 'scribe' })
    expect((await heddle('context', 'history', '--agent', 'scribe')).items).toMatchObject([{ id: saved.id }])
    expect(await heddle('context', 'restore', saved.id)).toMatchObject({ restored: 1 })
    const after = await heddle('context', 'build', '--thread', 'letter')
    expect(await heddle('context', 'explain', after.id)).toMatchObject({ thread: 'letter' })
    const explained = (await desk.heddle('context', 'explain', after.id)).stdout
    expect(explained).toMatch(/^rules +rule tone +raw .*came with the thread$/m)
    expect(explained).toMatch(/^tools +tool words\.spell +raw /m)
    expect(await heddle('context', 'diff', before.id, after.id)).toMatchObject({ tokens: expect.any(Object) })
    expect(await heddle('threads', 'remove', 'letter', '--yes', '--no-wait')).toMatchObject({ finished: false })
    expect((await heddle('threads', 'list')).items).toEqual([])
  })

  test('settings are those in force at the gateway, with their sources as far as it names them', async () => {
    const settings = { rollingWindow: 7_200, prune: { keepLastN: 12 } }
    const settingLayers = [{ from: 'file', settings } as const]
    const { store, queues } = pipeline
    const client = createClient({ store, queues, project: 'tests', settings, settingLayers })
    const remote = await serve({ ...pipeline, client })
    const machine = await openHome({ HEDDLE_URL: remote.url })
    // An agent is created by its first setting.
    await machine.heddle('settings', 'set', 'prune.keepLastN', '3', '--agent', 'novice')
    const { items } = (await machine.heddle('settings', 'list', '--agent', 'novice', '--json')).document
    const named = (name: string) => items.find((item: { name: string }) => item.name === name)
    expect(named('rollingWindow')).toMatchObject({ value: 7_200, from: 'file', source: null, default: 86_400 })
    expect(named('prune.keepLastN')).toMatchObject({ value: 3, from: 'agent', source: 'novice', default: 10 })
    expect(named('budget')).toMatchObject({ value: null, from: 'default', source: null })
    const shown = await machine.heddle('settings', 'show', 'rollingWindow', '--agent', 'novice')
    expect([shown.stderr, shown.stdout]).toEqual(['', 'rollingWindow: 7200\nfrom: file\ndefault: 86400\n'])
    const bare = await machine.heddle('settings', 'show', 'rollingWindow')
    expect(bare.stderr).toContain('visible only with --agent')
    await remote.gateway.close()
  })

  test('commands that are not available over HTTP, and an address without a gateway, are refused with a hint', async () => {
    expect((await away.heddle('search', 'x', '--url', 'nowhere', '--json')).error).toMatchObject({ field: 'url' })
    for (const argv of [['keys', 'list'], ['queues'], ['migrate'], ['doctor'], ['projects', 'delete', '--yes']]) {
      expect(await away.heddle(...argv, '--json')).toMatchObject({ code: 2, error: { field: 'url' } })
    }
    const asked = await home.heddle('keys', 'list', '--url', http.url, '--json')
    expect(asked).toMatchObject({ code: 2, error: { hint: expect.stringContaining('where the store can be reached') } })
  })
})

test('heddle agents delete erases an agent over HTTP with a key that may', async () => {
  const messages = [{ role: 'user' as const, content: 'the tern leaves at dusk' }]
  await pipeline.clientOf('shop').messages.append({ agent: 'leaver', thread: 'dusk', messages })
  const erase = ['agents', 'delete', 'leaver', '--yes', '--json']
  expect(await away.heddle(...erase)).toMatchObject({ code: 1, error: { code: 'FORBIDDEN' } })
  const { key } = await pipeline.clientOf('shop').keys.create({ name: 'operator', role: 'admin' })
  const operator = await openHome({ HEDDLE_URL: http.url, HEDDLE_KEY: key })
  const { document } = await operator.heddle(...erase)
  expect(document).toMatchObject({ kind: 'agent', name: 'leaver', removed: { messages: 1 }, finished: true })
})

test.each([
  ['here', () => home],
  ['over HTTP', () => away],
] as const)('heddle context compacts a thread on demand, pins a message and undoes both %s', async (_, where) => {
  const context = async (command: string, ...argv: string[]) =>
    (await where().heddle('context', command, '--thread', 'run', ...argv, '--project', 'shop', '--json')).document
  expect(await context('compress')).toMatchObject({ thread: 'run', agent: 'coder', compacted: false, summary: null })
  expect(await context('uncompact', '--all')).toMatchObject({ thread: 'run', action: 'undone', messages: 0 })
  expect(await context('pin', '--from', '1', '--to', '1')).toMatchObject({ action: 'pinned', messages: 1 })
  const [pin] = (await context('pin')).items
  expect(await context('pin', '--message', pin.messageId, '--remove')).toMatchObject({
    action: 'unpinned',
    messages: 1,
  })
  expect(await context('pin')).toMatchObject({ items: [] })
  const range = ['--thread', 'run', '--from', '1', '--to', '1', '--project', 'shop']
  expect((await where().heddle('context', 'pin', ...range)).stdout).toMatch(/^1 message of thread run pinned\n/)
  expect((await where().heddle('context', 'pin', ...range, '--remove')).stdout).toMatch(/^1 message of /)
})

test.each([
  ['here', () => home],
  ['over HTTP', () => away],
] as const)('heddle facts records, corrects, retracts and lists facts %s', async (door, where) => {
  const facts = async (...argv: string[]) =>
    (await where().heddle('facts', ...argv, '--project', 'shop', '--json')).document
  const subject = ['--subject', `build ${door}`]
  const wrong = await facts('put', 'coder', '4 min', ...subject, '--predicate', 'takes', '--single')
  expect(wrong).toMatchObject({ object: '4 min', single: true, origin: 'put' })
  const right = await facts('correct', 'coder', '5 min', '--fact', wrong.id)
  expect(right).toMatchObject({ object: '5 min', validFrom: wrong.validFrom })
  const { items } = await facts('list', 'coder', ...subject)
  expect(items).toMatchObject([{ id: right.id }, { id: wrong.id, supersededBy: right.id }])
  const shown = await where().heddle('facts', 'list', 'coder', '--project', 'shop', '--query', 'build')
  expect(shown.stdout).toMatch(/takes · 5 min +current/)
  expect((await facts('retract', 'coder', right.id)).retractedAt).toEqual(expect.any(String))
})

describe('heddle tail', () => {
  test.each([
    ['here', () => home],
    ['over HTTP', () => away],
  ] as const)('shows the events of a thread %s, one per line', async (_, where) => {
    const argv = ['tail', '--thread', 'run', '--topic', 'message.stored', '--after', '0', '--count', '1']
    const told = await where().heddle(...argv, '--project', 'shop', '--json')
    const [event, ...rest] = told.stdout.trim().split('\n')
    expect(rest).toEqual([])
    expect(JSON.parse(event ?? '')).toMatchObject({
      topic: 'message.stored',
      thread: 'run',
      agent: 'coder',
      headSeq: 1,
    })
    expect((await where().heddle(...argv, '--project', 'shop')).stdout).toMatch(
      /^ +\d+ {2}message\.stored +thread run {2}agent coder {2}seq 1\n$/,
    )
  })

  test('waits for new events, and ends when it is stopped', async () => {
    const running = home.start(['tail', '--project', 'live', '--agent', 'coder', '--after', '0'])
    const messages = [{ role: 'user' as const, content: 'hello' }]
    await pipeline.clientOf('live').messages.append({ agent: 'other', thread: 'theirs', messages })
    await pipeline.clientOf('live').messages.append({ agent: 'coder', thread: 'mine', messages })
    expect(await running.firstLine).toContain('thread mine  agent coder')
    running.kill('SIGTERM')
    expect((await running.ended).code).toBe(143)
  })
})

describe('heddle completion', () => {
  test('lets bash complete commands, their subcommands and their options', async () => {
    const { stdout: script } = await home.heddle('completion', 'bash')
    const complete = (...words: string[]) => {
      const list = words.map((word) => `'${word}'`).join(' ')
      const asked = `${script}\nCOMP_WORDS=(heddle ${list}); COMP_CWORD=${words.length}; _heddle; echo "\${COMPREPLY[*]}"`
      return execFileSync('bash', ['-c', asked], { encoding: 'utf8' }).trim().split(' ')
    }
    expect(complete('gra')).toEqual(['grants'])
    expect(complete('context', 'b')).toEqual(['build'])
    expect(complete('context', 'build', '--thread', 'x', '--bud')).toEqual(['--budget'])
    expect(complete('keys', '')).toEqual(expect.arrayContaining(['create', 'list', 'revoke']))
  })

  test('supports three shells, and names them in the error for any other', async () => {
    expect((await home.heddle('completion', 'zsh')).stdout).toMatch(/^#compdef heddle\n/)
    expect((await home.heddle('completion', 'fish')).stdout).toContain("__fish_seen_subcommand_from grants' -a")
    expect((await home.heddle('completion', 'bash', '--json')).document.words[0].words).toContain('tail')
    expect(await home.heddle('completion', 'tcsh', '--json')).toMatchObject({
      code: 2,
      error: { detail: expect.stringContaining('bash, zsh, fish') },
    })
  })
})
