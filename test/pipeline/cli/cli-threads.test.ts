import { writeFile } from 'node:fs/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import { type Home, openDatabaseHome } from './cli-support.js'

let home: Home

beforeAll(async () => {
  home = await openDatabaseHome()
  const lines = [
    { role: 'user', content: 'hello', sourceId: 'chat-1' },
    { role: 'assistant', content: 'hi\n\u001b[2Jthere' },
    { role: 'user', content: 'and now?' },
  ]
  await writeFile(home.path('talk.jsonl'), lines.map((line) => JSON.stringify(line)).join('\n'))
  expect((await home.heddle('import', 'talk.jsonl', '--agent', 'coder')).code).toBe(0)
})

test('--rolling-window none equals an import without a window, and a number is a count of seconds', async () => {
  const windowOf = async (agent: string, ...options: string[]) => {
    const ran = await home.heddle('import', 'talk.jsonl', '--agent', agent, '--thread', agent, ...options, '--json')
    expect(ran.stderr).toBe('')
    return (await home.heddle('agents', 'show', agent, '--json')).document.settings
  }
  expect(await windowOf('without')).toEqual({ rollingWindow: null })
  expect(await windowOf('none', '--rolling-window', 'none')).toEqual({ rollingWindow: null })
  expect(await windowOf('hour', '--rolling-window', '3600')).toEqual({ rollingWindow: 3_600 })
})

describe('threads', () => {
  test('are found by a part of their name or title, and show how far the stages have come', async () => {
    await home.heddle('threads', 'set', 'found', '--agent', 'coder', '--title', 'A 100% sure find')
    const listed = async (search: string) => {
      const { document } = await home.heddle('threads', 'list', '--search', search, '--json')
      return document.items.map(({ name }: { name: string }) => name)
    }
    expect([await listed('OUN'), await listed('100%'), await listed('_')]).toEqual([['found'], ['found'], []])
    expect((await home.heddle('threads', 'list', '--search', 'nothing')).stdout).toContain('no thread has "nothing"')
  })

  test('get a title and a status; absent fields stay, an empty text removes one', async () => {
    const set = ['threads', 'set', 'talk', '--agent', 'coder', '--json']
    const first = await home.heddle(...set, '--title', 'A talk', '--status', 'talking')
    expect(first.stderr).toBe('')
    expect(first.document).toMatchObject({ agent: 'coder', version: 1, title: 'A talk', status: 'talking' })
    expect((await home.heddle(...set, '--goal', 'an answer')).document).toMatchObject({ version: 2, title: 'A talk' })
    expect((await home.heddle(...set, '--status', '')).document).toMatchObject({ version: 3, status: null })
    expect((await home.heddle('threads', 'show', 'talk', '--json')).document).toMatchObject({ goal: 'an answer' })
    const foreign = await home.heddle('threads', 'set', 'talk', '--agent', 'other', '--status', 'mine', '--json')
    expect(foreign).toMatchObject({ code: 1, error: { code: 'CONFLICT', field: 'agent' } })
  })

  test('have processes that are set, listed and ended', async () => {
    const processes = ['threads', 'processes', 'talk']
    const set = await home.heddle(...processes, '--set', 'tests', '--status', '3 of 10', '--json')
    expect(set.document).toMatchObject({ name: 'tests', version: 1, status: '3 of 10', isRunning: true })
    expect((await home.heddle(...processes)).stdout).toMatch(/tests +runs · 3 of 10/)
    expect((await home.heddle(...processes, '--end', 'tests')).stdout).toBe('process tests: ended · 3 of 10\n')
    const { document } = await home.heddle(...processes, '--json')
    expect(document).toMatchObject({ items: [{ name: 'tests', isRunning: false }], nextCursor: null })
    expect(await home.heddle(...processes, '--end', 'nothing', '--json')).toMatchObject({
      code: 1,
      error: { code: 'NOT_FOUND', field: 'process' },
    })
    expect(await home.heddle(...processes, '--set', 'lint', '--json')).toMatchObject({
      code: 1,
      error: { code: 'VALIDATION_ERROR', field: 'status' },
    })
  })

  test('show their history page by page, without control characters of a terminal', async () => {
    const page = await home.heddle('threads', 'history', 'talk', '--limit', '2', '--json')
    expect(page.document).toMatchObject({ items: [{ seq: 1, sourceId: 'chat-1' }, { seq: 2 }], nextCursor: '2' })
    const rest = await home.heddle('threads', 'history', 'talk', '--cursor', page.document.nextCursor, '--json')
    expect(rest.document).toMatchObject({ items: [{ seq: 3, content: 'and now?' }], nextCursor: null })
    const { stdout } = await home.heddle('threads', 'history', 'talk', '--order', 'desc', '--limit', '2')
    expect(stdout).toMatch(/seq +time +role +window +reference +message/)
    expect(stdout).toMatch(/3 +20\d\d-.*Z +user +in +msg-\w+ +and now\?\n.*2 .* assistant +in .* hi \\x1b\[2Jthere\n/)
    expect(stdout).toContain('more: --cursor "2"')
    const underTheOldName = await home.heddle('threads', 'history', 'talk', '--after', '2', '--json')
    expect(underTheOldName.document).toEqual(rest.document)
    for (const cursor of ['x', '9']) {
      expect(await home.heddle('threads', 'history', 'talk', '--cursor', cursor, '--json')).toMatchObject({
        code: 2,
        error: { code: 'VALIDATION_ERROR', field: 'cursor', received: `"${cursor}"` },
      })
    }
  })
})

test('the messages of an agent are listed over all of its threads, and one is found by its id at the source', async () => {
  await home.heddle('import', 'talk.jsonl', '--agent', 'router', '--thread', 'first')
  await home.heddle('import', 'talk.jsonl', '--agent', 'router', '--thread', 'second')
  const page = await home.heddle('agents', 'history', 'router', '--limit', '4', '--json')
  expect(page.document.items.map(({ thread }: { thread: string }) => thread)).toHaveLength(4)
  const next = ['agents', 'history', 'router', '--cursor', page.document.nextCursor]
  const rest = await home.heddle(...next, '--json')
  expect([rest.document.items.length, rest.document.nextCursor]).toEqual([2, null])
  const { stdout } = await home.heddle('agents', 'history', 'router', '--order', 'desc', '--since', '1d')
  expect(stdout).toMatch(/thread +seq +time +role +window +reference +message/)
  const found = await home.heddle('messages', 'find', 'chat-1', '--agent', 'router', '--json')
  expect(found.document.items.map(({ thread }: { thread: string }) => thread).sort()).toEqual(['first', 'second'])
  expect((await home.heddle('messages', 'find', 'chat-9')).stdout).toContain('no message has this id at its source')
})

describe('a clear', () => {
  test('empties the windows of an agent, and the history marks the messages that are hidden', async () => {
    const build = ['context', 'build', '--thread', 'talk', '--message', 'next', '--json']
    expect((await home.heddle(...build)).document.receipt).toMatchObject({ eligible: 3, imported: 3 })
    const past = ['--cleared-at', '2020-01-01T00:00:00Z']
    const cleared = await home.heddle('context', 'clear', '--agent', 'coder', ...past, '--json')
    expect(cleared.document).toMatchObject({
      agent: 'coder',
      epoch: 1,
      threads: 1,
      clearedAt: '2020-01-01T00:00:00.000Z',
    })
    const again = await home.heddle('context', 'clear', '--agent', 'coder')
    expect(again.stdout).toMatch(/^cleared agent coder: its window begins after 20\d\d-.*: 1\)/)
    const { receipt } = (await home.heddle(...build)).document
    expect(receipt).toMatchObject({ eligible: 0, imported: 3, clearEpoch: 2 })
    const { items } = (await home.heddle('threads', 'history', 'talk', '--json')).document
    expect(items.map(({ inWindow }: { inWindow: boolean }) => inWindow)).toEqual([false, false, false])
  })

  test('of a missing agent is a typed error that says what to do', async () => {
    const { code, stdout, error } = await home.heddle('context', 'clear', '--agent', 'nobody', '--json')
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(error).toMatchObject({ code: 'NOT_FOUND', field: 'agent', hint: expect.stringMatching(/agents list/) })
  })
})

describe('iterations', () => {
  test('are added from options and from a file, without duplicates, and listed', async () => {
    const add = ['iterations', 'add', 'nightly', '--agent', 'runner', '--json']
    const id = '018f0000-0000-7000-8000-0000000000b1'
    const one = ['--prompt', 'fix it', '--output', '', '--id', id, '--score', '0.5', '--marker', 'a', '--marker', 'b']
    const added = await home.heddle(...add, ...one)
    expect(added.stderr).toBe('')
    expect(added.document).toMatchObject({ thread: 'nightly', stored: 1, repeated: 0, iterationNumbers: [1] })
    expect((await home.heddle(...add, ...one)).document).toMatchObject({ stored: 0, repeated: 1 })
    const conflict = await home.heddle(...add, '--prompt', 'other', '--output', '', '--id', id)
    expect(conflict).toMatchObject({ code: 1, error: { code: 'CONFLICT', field: 'iterations.0.id' } })

    const lines = [
      { prompt: 'go on', output: 'did', cli_used: 'codex', file_changes: ['a.ts'], duration_seconds: 2.5 },
      { prompt: 'go on', output: 'did', cliUsed: 'codex' },
    ]
    await writeFile(home.path('iterations.jsonl'), `${lines.map((line) => JSON.stringify(line)).join('\n')}\n`)
    const fromFile = [...add, '--file', 'iterations.jsonl']
    expect((await home.heddle(...fromFile)).document).toMatchObject({ stored: 2, iterationNumbers: [2, 3] })
    expect((await home.heddle(...fromFile)).document).toMatchObject({ stored: 0, iterationNumbers: [2, 3] })

    const list = ['iterations', 'list', 'nightly']
    expect((await home.heddle(...list, '--json')).document.items).toMatchObject([
      { id, iterationNumber: 1, output: '', progressScore: 0.5, progressMarkers: ['a', 'b'] },
      { iterationNumber: 2, cliUsed: 'codex', fileChanges: ['a.ts'], durationSeconds: 2.5 },
      { iterationNumber: 3, fileChanges: [] },
    ])
    const newest = await home.heddle(...list, '--order', 'desc', '--limit', '1')
    const astray = await home.heddle(...list, '--cursor', 'astray', '--json')
    expect(astray).toMatchObject({ code: 2, error: { detail: expect.stringContaining('nextCursor') } })
    expect(newest.stdout).toMatch(/3 +20\d\d-.*Z +codex +- +go on +did\n\nmore: --cursor "3"/)
  })

  test.each([
    ['a line that is no JSON', '{"prompt": "p", "output": "o"}\n{', 'line 2'],
    ['a line without an output', '{"prompt": "p"}', 'output'],
    ['a field that nobody knows', '{"prompt": "p", "output": "o", "mood": 1}', 'mood'],
    ['no line at all', '\n\n', 'file'],
  ])('of a file with %s are refused, and nothing is stored', async (_, lines, field) => {
    await writeFile(home.path('bad.jsonl'), lines)
    const add = ['iterations', 'add', 'never', '--agent', 'runner', '--file', 'bad.jsonl', '--json']
    expect(await home.heddle(...add)).toMatchObject({ code: 1, error: { code: 'VALIDATION_ERROR', field } })
    expect((await home.heddle('iterations', 'list', 'never', '--json')).error).toMatchObject({ code: 'NOT_FOUND' })
  })
})
