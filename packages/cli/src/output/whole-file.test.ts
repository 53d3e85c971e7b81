import { lstat, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { fillDisk, smallDisk } from '../../../../test/support/src/servers/small-disk.js'
import { writeWholeFile } from './whole-file.js'

async function ownFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'heddle-test-out-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  return folder
}

test('a file replaces the previous one when it is complete', async () => {
  const folder = await ownFolder()
  const path = join(folder, 'thread.jsonl')
  await writeFile(path, 'before')
  expect(await writeWholeFile(path, ['one\n', Buffer.from('zwei ä\n')])).toBe(12)
  expect(await readFile(path, 'utf8')).toBe('one\nzwei ä\n')
  expect(await readdir(folder)).toEqual(['thread.jsonl'])
})

test('a failed write keeps the previous file, and leaves no temporary one', async () => {
  const folder = await ownFolder()
  const path = join(folder, 'thread.jsonl')
  await writeFile(path, 'before')
  async function* broken() {
    yield 'a part'
    throw new Error('the connection is gone')
  }
  await expect(writeWholeFile(path, broken())).rejects.toThrow('the connection is gone')
  expect(await readFile(path, 'utf8')).toBe('before')
  expect(await readdir(folder)).toEqual(['thread.jsonl'])
})

test('a file keeps its mode, and a link to it stays a link', async () => {
  const folder = await ownFolder()
  const [path, link] = [join(folder, 'thread.jsonl'), join(folder, 'link')]
  await writeFile(path, 'before', { mode: 0o600 })
  await symlink(path, link)
  await writeWholeFile(link, ['after'])
  expect(await readFile(path, 'utf8')).toBe('after')
  expect((await stat(path)).mode & 0o777).toBe(0o600)
  expect((await lstat(link)).isSymbolicLink()).toBe(true)
})

test('a full disk is reported with a hint, and the previous file is kept', async (context) => {
  const folder = smallDisk(1)
  if (folder === null) return context.skip('a small disk cannot be mounted: run this as root, with mount allowed')
  const path = join(folder, 'thread.jsonl')
  await writeFile(path, 'before')
  await fillDisk(join(folder, 'ballast'))
  await expect(writeWholeFile(path, ['x'.repeat(100_000)])).rejects.toMatchObject({
    code: 'SERVICE_UNAVAILABLE',
    disposition: 'retry',
    message: `out: the disk that holds ${path} is full`,
    hint: expect.stringContaining('Free space'),
  })
  expect(await readFile(path, 'utf8')).toBe('before')
  expect((await readdir(folder)).sort()).toEqual(['ballast', 'thread.jsonl'])
})

test('a folder or a device is refused, and not changed', async () => {
  const folder = await ownFolder()
  for (const path of [folder, '/dev/null']) {
    await expect(writeWholeFile(path, ['x'])).rejects.toMatchObject({ code: 'VALIDATION_ERROR', field: 'out' })
  }
})

test('a missing folder is reported with the command that creates it', async () => {
  const path = join(await ownFolder(), 'no/such', 'thread.jsonl')
  await expect(writeWholeFile(path, ['x'])).rejects.toMatchObject({
    code: 'NOT_FOUND',
    hint: expect.stringContaining('mkdir -p'),
  })
})
