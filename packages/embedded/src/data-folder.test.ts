import { mkdir, mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { makeFolder, unusableFolder } from './data-folder.js'

const folders: string[] = []

afterEach(async () => {
  await Promise.all(folders.splice(0).map((folder) => rm(folder, { recursive: true, force: true })))
})

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'heddle-folder-'))
  folders.push(folder)
  return folder
}

test('a folder is created with its parents, repeatedly and concurrently', async () => {
  const dataDir = join(await newFolder(), 'a', 'b', 'c')
  await Promise.all(Array.from({ length: 8 }, () => makeFolder(dataDir, dataDir)))
  await makeFolder(dataDir, dataDir)
  expect((await stat(dataDir)).isDirectory()).toBe(true)
})

const unusable: [title: string, path: (folder: string) => string, rule: string][] = [
  ['a file', (folder) => join(folder, 'file'), 'must be a folder'],
  ['a folder inside of a file', (folder) => join(folder, 'file', 'inside'), 'must be a folder'],
  ['a name that is too long', (folder) => join(folder, 'x'.repeat(300)), 'too long'],
  ['links in a circle', (folder) => join(folder, 'circle', 'inside'), 'circle'],
  ['a name with a null byte', (folder) => `${folder}/\0`, 'null bytes'],
]

test.each(unusable)('%s is refused as data folder, with the rule and a hint', async (_, path, rule) => {
  const folder = await newFolder()
  await writeFile(join(folder, 'file'), '')
  await symlink('circle', join(folder, 'circle'))
  const dataDir = path(folder)
  await expect(makeFolder(dataDir, dataDir)).rejects.toMatchObject({
    name: 'PermanentError',
    code: 'VALIDATION_ERROR',
    field: 'data',
    message: expect.stringContaining(rule),
    hint: expect.stringContaining('--data'),
  })
})

test.runIf(process.platform === 'linux')('a place in which no folder can be made is refused at once', async () => {
  const dataDir = '/proc/heddle/deeper'
  await expect(makeFolder(join(dataDir, 'users'), dataDir)).rejects.toMatchObject({
    code: 'VALIDATION_ERROR',
    field: 'data',
    received: dataDir,
  })
})

test.skipIf(process.getuid?.() === 0)('a folder of somebody else is forbidden', async () => {
  const closed = join(await newFolder(), 'closed')
  await mkdir(closed, { mode: 0o500 })
  const dataDir = join(closed, 'data')
  await expect(makeFolder(dataDir, dataDir)).rejects.toMatchObject({ code: 'FORBIDDEN', field: 'data' })
})

test.each(['EACCES', 'EPERM', 'EROFS'])('%s means a missing permission', (code) => {
  expect(unusableFolder('/data', Object.assign(new Error(code), { code }))).toMatchObject({
    name: 'PermanentError',
    code: 'FORBIDDEN',
    field: 'data',
    hint: expect.stringContaining('--data'),
  })
})
