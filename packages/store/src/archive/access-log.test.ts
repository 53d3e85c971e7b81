import { expect, test } from 'vitest'
import { AccessLog } from './access-log.js'
import type { Accesses } from './archive.js'

test('recalls are written together, with their number and the time of the last', async () => {
  let nowMs = 0
  const written: [string, readonly Accesses[]][] = []
  const log = new AccessLog({ write: async (...batch) => void written.push(batch), nowMs: () => ++nowMs })
  for (const id of ['a', 'b', 'a']) log.note('one', id)
  log.note('other', 'a')
  expect(written).toEqual([])
  await log.close(1_000)
  expect(written).toEqual([
    [
      'one',
      [
        { id: 'a', count: 2, lastAtMs: 3 },
        { id: 'b', count: 1, lastAtMs: 2 },
      ],
    ],
    ['other', [{ id: 'a', count: 1, lastAtMs: 4 }]],
  ])
})

test('they are written after a while without being asked for', async () => {
  const written = new Promise((resolve) => {
    const log = new AccessLog({ write: async (...batch) => resolve(batch), nowMs: () => 7, delayMs: 1 })
    log.note('one', 'a')
  })
  expect(await written).toEqual(['one', [{ id: 'a', count: 1, lastAtMs: 7 }]])
})

test('a write that fails stops nobody, and one that hangs holds closing up for its bound alone', async () => {
  const faults: string[] = []
  const failing = new AccessLog({
    write: () => Promise.reject(new Error('away')),
    log: { debug: (_, message) => faults.push(message) },
  })
  failing.note('one', 'a')
  await failing.close(1_000)
  expect(faults).toEqual(['recalls were not counted'])

  const hanging = new AccessLog({ write: () => new Promise(() => undefined) })
  hanging.note('one', 'a')
  await hanging.close(1)
})

test('what waits is bounded', async () => {
  const sizes: number[] = []
  const log = new AccessLog({ write: async (_, batch) => void sizes.push(batch.length) })
  for (let index = 0; index < 10_500; index++) log.note(`project ${index % 2}`, `entry ${index}`)
  log.note('project 0', 'entry 0')
  await log.flush()
  expect(sizes).toEqual([5_000, 5_000])
})
