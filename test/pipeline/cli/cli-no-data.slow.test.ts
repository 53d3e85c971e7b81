import { readdir } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { openHome } from './cli-support.js'

const lookers = [
  'threads list',
  'threads show a',
  'threads history a',
  'threads export a',
  'agents list',
  'agents show a',
  'search words',
  'recall msg-12345678 --thread a',
  'recall --agent a --kind bash',
  'context show 0192aaaa-0000-7000-8000-000000000000',
  'context explain 0192aaaa-0000-7000-8000-000000000000',
  'context build --thread a --agent a',
  'context clear --agent a',
  'context history --agent a',
  'settings list --agent a',
  'items list --agent a',
  'keys list',
  'queues',
  'tail',
]

describe('a command that reads data, in a folder without data', () => {
  test.each(lookers)('heddle %s says that there is no data, and creates none', async (line) => {
    const home = await openHome()
    const { code, error } = await home.heddle(...line.split(' '), '--json')
    expect(code).toBe(1)
    expect(error).toMatchObject({
      code: 'NOT_FOUND',
      field: 'data',
      received: home.path('.heddle'),
      detail: expect.stringContaining('there is no data in'),
      hint: expect.stringContaining('heddle up'),
    })
    expect(await readdir(home.dir)).toEqual([])
  })

  test('heddle doctor says that there is no data, and runs its other checks', async () => {
    const home = await openHome()
    const { code, document } = await home.heddle('doctor', '--json')
    expect(code).toBe(1)
    expect(document.checks).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ name: 'database', status: 'fail', hint: expect.stringContaining('heddle up') }),
        expect.objectContaining({ name: 'embedder', status: 'ok' }),
      ]),
    )
    expect(await readdir(home.dir)).toEqual([])
  })

  test('heddle settings list shows the effective settings, and creates no data', async () => {
    const home = await openHome()
    expect((await home.heddle('settings', 'list', '--json')).code).toBe(0)
    expect(await readdir(home.dir)).toEqual([])
  })
})

test('a command that writes creates the data in an empty folder, and later commands find it', async () => {
  const home = await openHome()
  expect((await home.heddle('agents', 'set', 'coder', '--json')).code).toBe(0)
  expect((await home.heddle('agents', 'list', '--json')).document.items).toMatchObject([{ name: 'coder' }])
})
