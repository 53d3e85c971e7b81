import { execFileSync } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Home, openHome } from './cli-support.js'
import { type Served, serve } from './http-support.js'
import { openPipeline, type Pipeline } from './support.js'

let pipeline: Pipeline
let http: Served
/** Where the store is, and elsewhere: a machine that knows the address of the gateway and no more. */
let home: Home
let away: Home

beforeAll(async () => {
  pipeline = await openPipeline('postgres')
  await pipeline.start()
  http = await serve(pipeline)
  home = await openHome({ DATABASE_URL: pipeline.databaseUrl, HEDDLE_QUEUE_PREFIX: pipeline.prefix })
  const messages = [{ role: 'user' as const, content: 'the pelican lands at noon' }]
  await pipeline.clientOf('shop').messages.append({ agent: 'coder', thread: 'run', messages })
  const { key } = await pipeline.clientOf('shop').keys.create({ name: 'away', role: 'agent' })
  away = await openHome({ HEDDLE_URL: http.url, HEDDLE_KEY: key })
})
afterAll(async () => {
  await http?.gateway.close()
  await pipeline?.close()
})

describe('heddle keys', () => {
  test('makes a key that opens the gateway, lists it without itself, and takes it back', async () => {
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

  test('shows the key to people once, and says how to send it', async () => {
    const { stdout } = await home.heddle('keys', 'create', '--name', 'bot', '--role', 'produce', '--project', 'games')
    expect(stdout).toMatch(/^hdl_[\w-]+\n\nkey [\w-]{36} "bot" of project games, role produce\nIt is not shown again\./)
  })

  test('refuses roles that there are not, and ids of other projects', async () => {
    const bad = await home.heddle('keys', 'create', '--name', 'bot', '--role', 'king', '--json')
    expect(bad).toMatchObject({ code: 2, error: { field: 'role', received: expect.stringContaining('king') } })
    const [key] = (await home.heddle('keys', 'list', '--project', 'shop', '--json')).document.items
    const foreign = await home.heddle('keys', 'revoke', key.id, '--project', 'games', '--json')
    expect(foreign).toMatchObject({ code: 1, error: { code: 'NOT_FOUND' } })
  })
})

test('heddle grants: recall between two projects holds once both agreed, until one ends it', async () => {
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

describe('with a gateway elsewhere', () => {
  test('contexts are built and shown, and messages recalled and searched, without a store here', async () => {
    const built = await away.heddle('context', 'build', '--thread', 'run', '--budget', '4000', '--json')
    expect(built.document).toMatchObject({ thread: 'run', messages: [{ content: 'the pelican lands at noon' }] })
    const shown = await away.heddle('context', 'show', built.document.id, '--messages')
    expect(shown.stdout).toContain('user: the pelican lands at noon')
    const find = async () => (await away.heddle('search', 'pelican', '--json')).document.items
    await expect.poll(find, { timeout: 10_000 }).toHaveLength(1)
    const [{ ref }] = await find()
    expect((await away.heddle('recall', ref)).stdout).toBe('the pelican lands at noon')
  })

  test('what is not done over HTTP, and a gateway that is none, are refused with what to do', async () => {
    const listed = await away.heddle('recall', '--thread', 'run', '--json')
    expect(listed).toMatchObject({ code: 2, error: { field: 'url', hint: expect.stringContaining('HEDDLE_URL') } })
    expect((await away.heddle('search', 'x', '--url', 'nowhere', '--json')).error).toMatchObject({ field: 'url' })
  })
})

describe('heddle tail', () => {
  test.each([
    ['here', () => home],
    ['over HTTP', () => away],
  ] as const)('shows the events of a thread %s, each on a line', async (_, where) => {
    const argv = ['tail', '--thread', 'run', '--topic', 'message.stored', '--after', '0', '--count', '1']
    const told = await where().heddle(...argv, '--project', 'shop', '--json')
    const [event, ...rest] = told.stdout.trim().split('\n')
    expect(rest).toEqual([])
    expect(JSON.parse(event ?? '')).toMatchObject({ topic: 'message.stored', headSeq: 1 })
    expect((await where().heddle(...argv, '--project', 'shop')).stdout).toMatch(/^ +\d+ {2}message\.stored .*seq 1\n$/)
  })

  test('waits for what happens, and ends when it is stopped', async () => {
    const running = home.start(['tail', '--project', 'live', '--agent', 'coder', '--after', '0'])
    const messages = [{ role: 'user' as const, content: 'hello' }]
    await pipeline.clientOf('live').messages.append({ agent: 'other', thread: 'theirs', messages })
    const { threadId } = await pipeline.clientOf('live').messages.append({ agent: 'coder', thread: 'mine', messages })
    expect(await running.firstLine).toContain(`thread ${threadId}`)
    running.kill('SIGTERM')
    expect((await running.ended).code).toBe(143)
  })
})

describe('heddle completion', () => {
  test('makes bash complete commands, their subcommands and their options', async () => {
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

  test('knows three shells, and names them to who asks for another', async () => {
    expect((await home.heddle('completion', 'zsh')).stdout).toMatch(/^#compdef heddle\n/)
    expect((await home.heddle('completion', 'fish')).stdout).toContain("__fish_seen_subcommand_from grants' -a")
    expect((await home.heddle('completion', 'bash', '--json')).document.words[0].words).toContain('tail')
    expect(await home.heddle('completion', 'tcsh', '--json')).toMatchObject({
      code: 2,
      error: { detail: expect.stringContaining('bash, zsh, fish') },
    })
  })
})
