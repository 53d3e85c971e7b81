import { readdir, readFile, writeFile } from 'node:fs/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import { type Home, openDatabaseHome, openOutgrownHome } from './cli-support.js'

describe('with a session that outgrew its budget', () => {
  let home: Home
  let messages = 0

  beforeAll(async () => {
    ;({ home, messages } = await openOutgrownHome())
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
})
