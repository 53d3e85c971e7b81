import { beforeAll, describe, expect, test } from 'vitest'
import { type Home, openOutgrownHome } from './cli-support.js'

describe('with a session that outgrew its budget', () => {
  let home: Home

  beforeAll(async () => {
    ;({ home } = await openOutgrownHome())
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
