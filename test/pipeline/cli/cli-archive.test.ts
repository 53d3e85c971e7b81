import { readdir, readFile, writeFile } from 'node:fs/promises'
import { readRecordedSession } from '@heddle/cli'
import { beforeAll, describe, expect, test } from 'vitest'
import { type Home, openDatabaseHome } from './cli-support.js'

describe('with a session that outgrew its budget', () => {
  let home: Home
  let messages = 0

  beforeAll(async () => {
    home = await openDatabaseHome()
    await writeFile(home.path('heddle.yaml'), 'settings:\n  budget: 16000\n')
    await writeFile(home.path('session.jsonl'), await readRecordedSession())
    const imported = await home.heddle('import', 'session.jsonl', '--agent', 'coder', '--json')
    expect(imported.document).toMatchObject({ settled: true })
    messages = imported.document.stored
    expect(messages).toBeGreaterThanOrEqual(200)
  })

  test('archived contents are listed by kind and searched by words, and each can be recalled', async () => {
    const failures = await home.heddle('recall', '--agent', 'coder', '--kind', 'bash', '--failed', '--json')
    expect(failures.stderr).toBe('')
    expect(failures.document.items.length).toBeGreaterThan(0)
    for (const hit of failures.document.items) expect(hit).toMatchObject({ kind: 'bash', failed: true })
    const views = await home.heddle('recall', '--thread', 'session', '--kind', 'file_view', '--limit', '2', '--json')
    expect(views.document.nextCursor).toEqual(expect.any(String))
    const [hit] = views.document.items
    const recalled = await home.heddle('recall', hit.ref, '--json')
    expect(recalled.document).toMatchObject({ ref: hit.ref, filePaths: hit.filePaths, messageId: hit.messageId })
    const path = hit.filePaths[0].split('/').at(-1)
    // With so few tokens the content cannot include the note that it was truncated.
    const cut = await home.heddle('recall', hit.ref, '--max-tokens', '1')
    expect(cut.stderr).toMatch(/^cut by --max-tokens; total lines: \d+\./)
    const found = await home.heddle('recall', '--thread', 'session', '--search', path, '--json')
    expect(found.document.items.map((each: { ref: string }) => each.ref)).toContain(hit.ref)
    const listed = (await home.heddle('recall', '--thread', 'session')).stdout
    expect(listed).toMatch(/reference +thread +when/)
    expect(listed).toMatch(/heddle recall nexora:\/\/\S+ gives the text; nexora:.* is an address within Heddle/)
    const built = await home.heddle('context', 'build', '--thread', 'session', '--budget', '8000', '--json')
    expect((await home.heddle('context', 'explain', built.document.id)).stdout).toMatch(
      /references: heddle recall msg-\w+ --thread "session" gives the text; nexora:.* is an address within Heddle/,
    )
  })

  test('messages are found by words and filters, and each can be recalled', async () => {
    const found = await home.heddle(
      'search',
      'file',
      '--agent',
      'coder',
      '--kind',
      'file_view',
      '--limit',
      '3',
      '--json',
    )
    expect(found.stderr).toBe('')
    expect(found.document.items).toHaveLength(3)
    for (const hit of found.document.items) expect(hit).toMatchObject({ kind: 'file_view', thread: 'session' })
    const recalled = await home.heddle('recall', found.document.items[0].ref, '--json')
    expect(recalled.document.messageId).toBe(found.document.items[0].messageId)
    expect((await home.heddle('search', 'file', '--thread', 'session')).stdout).toMatch(
      /^msg-\w+ · session · .*\n[\s\S]*? {2}> /,
    )
    // Only by words: the hashing embedder sometimes finds similar parts in the random names of folders.
    expect((await home.heddle('search', 'zebra', '--by', 'words')).stdout).toContain('other words')
    const absent = await home.heddle('search', 'file', '--thread', 'nowhere', '--json')
    expect([absent.code, absent.error]).toMatchObject([1, { code: 'NOT_FOUND', hint: expect.stringMatching(/list/) }])
    for (const argv of [
      [' '],
      ['file', '--kind', 'nonsense'],
      ['file', '--since', 'yesterday'],
      ['file', '--limit', '0'],
    ]) {
      const ran = await home.heddle('search', ...argv, '--json')
      expect([ran.code, ran.error]).toMatchObject([2, { code: 'VALIDATION_ERROR', hint: expect.stringMatching(/\w/) }])
    }
  })

  test('a thread is exported, imported elsewhere and under another name, and stays the same to the byte', async () => {
    const written = await home.heddle('threads', 'export', 'session', '--out', 'session.heddle.jsonl', '--json')
    expect(written.stderr).toBe('')
    const file = await readFile(home.path('session.heddle.jsonl'), 'utf8')
    expect(written.document).toMatchObject({ thread: 'session', records: file.split('\n').length - 1 })
    expect((await home.heddle('threads', 'export', 'session')).stdout).toBe(file)

    const copied = await home.heddle('threads', 'import', 'session.heddle.jsonl', '--as', 'copy', '--json')
    expect(copied.document).toMatchObject({ thread: 'copy', agent: 'coder', messages })
    const again = await home.heddle('threads', 'import', 'session.heddle.jsonl', '--as', 'copy', '--json')
    expect(Object.values(again.document.added).filter((count) => count !== 0)).toEqual([])
    const [hit] = (await home.heddle('recall', '--thread', 'copy', '--limit', '1', '--json')).document.items
    expect((await home.heddle('recall', hit.ref)).code).toBe(0)

    const elsewhere = await openDatabaseHome()
    await writeFile(elsewhere.path('session.heddle.jsonl'), file)
    const moved = await elsewhere.heddle('threads', 'import', 'session.heddle.jsonl')
    expect(moved.stdout).toContain(`thread session · agent coder · ${messages} messages`)
    expect((await elsewhere.heddle('threads', 'export', 'session')).stdout).toBe(file)

    await writeFile(elsewhere.path('cut.jsonl'), file.slice(0, -100))
    for (const [argv, code] of [
      [['import', 'cut.jsonl', '--as', 'other'], 'VALIDATION_ERROR'],
      [['import', 'absent.jsonl'], 'NOT_FOUND'],
      [['import', '.'], 'VALIDATION_ERROR'],
      [['export', 'nowhere', '--out', 'nowhere.jsonl'], 'NOT_FOUND'],
      [['export', 'session', '--out', 'no/such/folder.jsonl'], 'NOT_FOUND'],
    ] as const) {
      const ran = await elsewhere.heddle('threads', ...argv, '--json')
      expect(ran.error).toMatchObject({ code, hint: expect.stringMatching(/\w/) })
      expect(ran.code).toBe(1)
    }
    expect((await readdir(elsewhere.dir)).filter((name) => name.includes('nowhere'))).toEqual([])
    expect((await elsewhere.heddle('threads', 'list', '--json')).document.items).toHaveLength(1)
  })

  test('options that cannot be combined are refused with a hint', async () => {
    const cases = [
      ['--lines', '1-2'],
      ['msg-zzzzzzzz', '--failed'],
      ['--search', 'x', '--cursor', 'y'],
      ['--kind', 'nonsense'],
      ['--since', 'yesterday'],
    ]
    for (const argv of cases) {
      const ran = await home.heddle('recall', ...argv, '--json')
      expect(ran.error).toMatchObject({ code: 'VALIDATION_ERROR', hint: expect.stringMatching(/\w/) })
      expect(ran.code).toBe(2)
    }
  })
})
