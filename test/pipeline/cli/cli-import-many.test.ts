import { writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { openDatabaseHome } from './cli-support.js'

const message = (content: string, id?: string) => `${JSON.stringify({ role: 'user', content, ...(id && { id }) })}\n`
const ID = '018f0000-0000-7000-8000-00000000000a'

test('an import of many files continues past faulty ones, reports each, and exits with 1', async () => {
  const home = await openDatabaseHome()
  const write = (name: string, text: string) => writeFile(home.path(name), text)
  await write('old.jsonl', message('there already'))
  await write('changed.jsonl', message('as it was', ID))
  expect((await home.heddle('import', 'old.jsonl', 'changed.jsonl', '--agent', 'coder', '--json')).code).toBe(0)
  await write('changed.jsonl', message('as it was not', ID))
  await write('broken.jsonl', `${message('one')}{"role":\n{"role":\n`)
  await write('new.jsonl', message('new'))

  const files = ['changed.jsonl', 'broken.jsonl', 'absent.jsonl', 'old.jsonl', 'new.jsonl']
  const ran = await home.heddle('import', ...files, '--agent', 'coder', '--json')
  expect(ran.stderr).toBe('')
  expect(ran.code).toBe(1)
  expect(ran.document).toMatchObject({
    stored: 1,
    repeated: 1,
    threads: [
      { file: 'old.jsonl', status: 'repeated' },
      { file: 'new.jsonl', status: 'stored' },
    ],
    failed: [
      { file: 'broken.jsonl', thread: null, status: 'unreadable', error: { code: 'VALIDATION_ERROR' } },
      { file: 'absent.jsonl', thread: null, status: 'unreadable', error: { code: 'NOT_FOUND' } },
      { file: 'changed.jsonl', thread: 'changed', status: 'conflict', error: { code: 'CONFLICT' } },
    ],
  })

  const shown = await home.heddle('import', ...files, '--agent', 'coder')
  expect(shown.code).toBe(1)
  expect(shown.stdout).toMatch(/^old +.*\n^new +/m)
  expect(shown.stdout).toMatch(/^conflict: changed\.jsonl\n {2}why: .+\n {2}do: {2}.+$/m)
})

test('an import of a single faulty file fails with only the error of that file', async () => {
  const home = await openDatabaseHome()
  const ran = await home.heddle('import', 'absent.jsonl', '--agent', 'coder', '--json')
  expect(ran).toMatchObject({ code: 1, stdout: '', error: { code: 'NOT_FOUND', field: 'file' } })
})
