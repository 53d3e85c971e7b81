import { writeFile } from 'node:fs/promises'
import { beforeAll, expect, test } from 'vitest'
import { type Home, openDatabaseHome } from './cli-support.js'

let home: Home

beforeAll(async () => {
  home = await openDatabaseHome()
})

const items = (...argv: string[]) => home.heddle('items', ...argv)

test('items are set, listed, shown and removed, with output for people and for programs', async () => {
  await writeFile(home.path('api.md'), 'Errors have a code.\n\u001b[31mred')
  const rule = ['rule', 'style', '--agent', 'coder', '--text', 'Be brief.', '--include', 'always', '--priority', '1']
  expect((await items('set', ...rule)).stdout).toBe('rule style · version 1 · always\n')
  const set = await items(
    'set',
    'reference',
    'api',
    '--agent',
    'coder',
    '--file',
    'api.md',
    '--include',
    'agent',
    '--json',
  )
  expect(set.document).toMatchObject({ type: 'reference', name: 'api', version: 1, include: 'agent' })
  await items('set', 'tool', 'read', '--server', 'files', '--agent', 'coder', '--description', 'Reads a file.')

  const listed = (await items('list', '--agent', 'coder')).stdout.split('\n')
  expect(listed[0]).toMatch(/^type +name +include +level +version +says$/)
  expect(listed.slice(2, 5)).toEqual([
    expect.stringMatching(/^reference +api +agent +1 +Errors have a code\./),
    expect.stringMatching(/^rule +style +always +001 +1 +Be brief\.$/),
    expect.stringMatching(/^tool +files\.read +always +1 +Reads a file\.$/),
  ])
  const page = (await items('list', '--agent', 'coder', '--limit', '2', '--json')).document
  expect(page.items).toHaveLength(2)
  const rest = (await items('list', '--agent', 'coder', '--cursor', page.nextCursor, '--json')).document
  expect(rest).toMatchObject({ items: [{ name: 'read', serverName: 'files' }], nextCursor: null })
  expect((await items('list', '--agent', 'coder', '--type', 'rule', '--json')).document.items).toHaveLength(1)

  const shown = (await items('show', 'reference', 'api', '--agent', 'coder')).stdout
  expect(shown).toMatch(/^reference api · version 1 · agent\n\nErrors have a code\./)
  expect(shown).not.toContain('\u001b')
  await items('set', 'rule', 'style', '--agent', 'coder', '--text', 'Be very brief.')
  const old = await items('show', 'rule', 'style', '--agent', 'coder', '--item-version', '1', '--json')
  expect(old.document).toMatchObject({ version: 1, text: 'Be brief.', priorityLevel: 1 })

  expect((await items('remove', 'rule', 'style', '--agent', 'coder')).stdout).toBe(
    'rule style was removed from agent coder\n',
  )
  const gone = await items('show', 'rule', 'style', '--agent', 'coder', '--json')
  expect(gone).toMatchObject({ code: 1, error: { code: 'NOT_FOUND' } })
})

test('items of a thread are added and removed by hand', async () => {
  await home.heddle('items', 'set', 'rule', 'always', '--agent', 'weaver', '--text', 'a')
  await home.heddle('items', 'set', 'rule', 'by-hand', '--agent', 'weaver', '--text', 'b', '--include', 'manual')
  await home.heddle('threads', 'set', 'cloth', '--agent', 'weaver')
  const held = async () =>
    (await items('list', '--thread', 'cloth', '--json')).document.items.map(
      ({ name, includeMode }: { name: string; includeMode: string }) => `${name} ${includeMode}`,
    )
  expect(await held()).toEqual(['always always'])
  const add = () => items('set', 'rule', 'by-hand', '--thread', 'cloth')
  expect((await add()).stdout).toBe('rule by-hand was added to thread cloth\n')
  expect((await add()).stdout).toBe('rule by-hand was already in thread cloth\n')
  expect(await held()).toEqual(['always always', 'by-hand manual'])
  expect((await items('show', 'rule', 'by-hand', '--thread', 'cloth')).stdout).toContain('by-hand · version 1 · manual')
  expect((await items('remove', 'rule', 'always', '--thread', 'cloth', '--json')).document).toEqual({ removed: true })
  expect(await held()).toEqual(['by-hand manual'])
  const none = await items('remove', 'rule', 'always', '--thread', 'cloth', '--json')
  expect(none).toMatchObject({ code: 1, error: { code: 'NOT_FOUND' } })
})

test('an explanation shows the mode and the reason of each item, the server of a tool, and the score of a selected one', async () => {
  const set = (type: string, name: string, ...more: string[]) =>
    home.heddle('items', 'set', type, name, '--agent', 'shown', ...more)
  await set('rule', 'style', '--text', 'Be brief.')
  await set('tool', 'read', '--server', 'files', '--description', 'Reads a file.')
  await set('rule', 'by-hand', '--text', 'Write tests.', '--include', 'manual')
  await set('rule', 'authentication', '--text', 'Authenticate requests with a bearer token.', '--include', 'agent')
  await home.heddle('threads', 'set', 'explained', '--agent', 'shown')
  await home.heddle('items', 'set', 'rule', 'by-hand', '--thread', 'explained')
  const request = ['--agent', 'shown', '--thread', 'explained', '--message', 'How do I authenticate requests?']
  const { document } = await home.heddle('context', 'build', ...request, '--json')
  const { stdout } = await home.heddle('context', 'explain', document.id)
  expect(stdout).toMatch(/^rules +rule style +raw +\d+ +came with the thread$/m)
  expect(stdout).toMatch(/^rules +rule by-hand +raw +\d+ +added to the thread by hand$/m)
  expect(stdout).toMatch(/^tools +tool files\.read +raw +\d+ +came with the thread$/m)
  expect(stdout).toMatch(/^selected +rule authentication +raw +(0\.\d\d|1\.00) +\d+ +selected by meaning$/m)
})

test('an item that becomes always included names the threads that started before, until it is added to them', async () => {
  const set = (...more: string[]) => items('set', 'rule', 'late', '--agent', 'late', '--text', 'a', ...more)
  expect((await set()).stdout).toBe('rule late · version 1 · always\n')
  for (const thread of ['one', 'two words']) await home.heddle('threads', 'set', thread, '--agent', 'late')
  expect((await set()).stdout).toBe('rule late · version 1 · always\n')

  const later = ['set', 'rule', 'later', '--agent', 'late', '--text', 'b']
  const add = "heddle items set rule later --thread 'two words'"
  expect((await items(...later)).stdout.split('\n')).toEqual([
    'rule later · version 1 · always',
    'note: threads that began before do not have it until it is added: two words, one',
    `      ${add}`,
    '',
  ])
  await items('set', 'rule', 'later', '--thread', 'two words')
  expect((await items(...later, '--json')).document.threadsWithout).toEqual(['one'])
  // An item removed by hand is not reported as missing, and neither is one added by hand or by meaning.
  await items('set', 'rule', 'later', '--thread', 'one')
  await items('remove', 'rule', 'later', '--thread', 'one')
  expect((await items(...later, '--json')).document.threadsWithout).toEqual([])
  for (const mode of ['manual', 'agent'])
    expect((await items('set', 'rule', mode, '--agent', 'late', '--include', mode, '--json')).document).toMatchObject({
      threadsWithout: [],
    })

  for (let count = 0; count < 20; count++) await home.heddle('threads', 'set', `many ${count}`, '--agent', 'late')
  const { stdout } = await items('set', 'rule', 'last', '--agent', 'late')
  expect(stdout).toMatch(/added: many 19, many 18, many 17, and at least 17 more\n/)
})

test('item statistics are shown for people and for programs', async () => {
  await items('set', 'rule', 'counted', '--agent', 'counter', '--text', 'a')
  const { stdout } = await items('stats', '--agent', 'counter', '--since', '7d')
  expect(stdout).toMatch(/^agent counter · 0 contexts with items in 0 threads, 0 answered\n/)
  expect(stdout).toMatch(/rule +counted +always +0 +0 +0/)
  expect((await items('stats', '--agent', 'counter', '--json')).document).toMatchObject({
    contexts: 0,
    isCut: false,
    items: [{ name: 'counted', used: 0, suggestion: null }],
  })
})

test.each([
  ['neither an agent nor a thread', ['list'], 'agent'],
  ['both of them', ['list', '--agent', 'a', '--thread', 't'], 'thread'],
  ['a type that there is not', ['set', 'prompt', 'x', '--agent', 'a'], 'type'],
  ['a text and a file', ['set', 'rule', 'x', '--agent', 'a', '--text', 't', '--file', 'f'], 'file'],
  ['a file that there is not', ['set', 'rule', 'x', '--agent', 'a', '--file', 'none.md'], 'file'],
  ['a text for the item of a thread', ['set', 'rule', 'x', '--thread', 't', '--text', 'y'], 'thread'],
  ['no moment', ['stats', '--agent', 'a', '--since', 'once'], 'since'],
])('%s is a usage error that names the option', async (_, argv, field) => {
  const ran = await items(...argv, '--json')
  expect(ran.code).toBe(2)
  expect(ran.error).toMatchObject({ field })
})
