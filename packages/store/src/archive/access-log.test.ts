import { expect, test } from 'vitest'
import { AccessLog } from './access-log.js'
import type { Accesses } from './archive.js'

/** A clock whose every look is a millisecond later, and whose timers never end. */
function countingClock() {
  let nowMs = 0
  return { nowMs: () => ++nowMs, after: () => () => {} }
}

test('reads are written in one batch, with their number and the time of the last', async () => {
  const written: [string, readonly Accesses[]][] = []
  const log = new AccessLog({ write: async (...batch) => void written.push(batch), clock: countingClock() })
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

test('a failed write does not affect others', async () => {
  const faults: string[] = []
  const written: string[] = []
  const log = new AccessLog({
    async write(projectId) {
      if (projectId === 'away') throw new Error('away')
      written.push(projectId)
    },
    log: { debug: (_, message) => faults.push(message) },
  })
  log.note('away', 'a')
  log.note('there', 'a')
  await log.close(1_000)
  expect([faults, written]).toEqual([['recalls were not counted'], ['there']])
})

test('the number of waiting reads is limited', async () => {
  const sizes: number[] = []
  const log = new AccessLog({ write: async (_, batch) => void sizes.push(batch.length) })
  for (let index = 0; index < 10_500; index++) log.note(`project ${index % 2}`, `entry ${index}`)
  await log.close(1_000)
  expect(sizes).toEqual([5_000, 5_000])
})
