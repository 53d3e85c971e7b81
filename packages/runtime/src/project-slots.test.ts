import { expect, test } from 'vitest'
import { ManualClock } from '../../../test/support/src/manual-clock.js'
import { ProjectSlots } from './project-slots.js'

function slotsWith(clock = new ManualClock()) {
  return new ProjectSlots({ calm: 2, crowded: 1, alone: 3, clock })
}

/** Requests a number of slots. Returns functions that release the granted ones, in order. */
function crowd(slots: ProjectSlots, project: string, count: number) {
  const given: (() => void)[] = []
  for (let each = 0; each < count; each++) void slots.acquire(project).then((release) => given.push(release))
  return given
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

test('a busy project has fewer slots than a calm one, which does not wait behind its work', async () => {
  const slots = slotsWith()
  const quiet = await slots.acquire('quiet')
  const given = crowd(slots, 'noisy', 5)
  await settled()
  expect(given).toHaveLength(2)
  const again = await slots.acquire('quiet')
  given[0]?.()
  given[0]?.()
  await settled()
  expect(given).toHaveLength(2)
  given[1]?.()
  await settled()
  expect(given).toHaveLength(3)
  // The remaining load is low enough for both to run.
  given[2]?.()
  await settled()
  expect(given).toHaveLength(5)
  for (const release of [quiet, again, ...given]) release()
  expect(slots.size).toBe(0)
})

test('a lone project has more slots, until another one arrives, and again some time after it', async () => {
  const clock = new ManualClock()
  const slots = slotsWith(clock)
  const given = crowd(slots, 'crowd', 10)
  await settled()
  expect(given).toHaveLength(3)
  const guest = await slots.acquire('guest')
  guest()
  for (const release of given.splice(0, 2)) release()
  await settled()
  expect(given).toHaveLength(1)
  await clock.advance(5_000)
  given[0]?.()
  await settled()
  expect(given).toHaveLength(4)
})
