import { expect, test } from 'vitest'
import { ManualClock } from '../../../test/support/src/manual-clock.js'
import { ProjectSlots } from './project-slots.js'

function slotsWith(clock = new ManualClock()) {
  return new ProjectSlots({ calm: 2, crowded: 1, alone: 3, clock })
}

/** Acquires a number of slots, and tells how many were given. */
function crowd(slots: ProjectSlots, project: string, count: number, signal?: AbortSignal) {
  const given: (() => void)[] = []
  const failed: unknown[] = []
  for (let each = 0; each < count; each++) {
    slots.acquire(project, signal).then(
      (release) => given.push(release),
      (error: unknown) => failed.push(error),
    )
  }
  return { given, failed }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

test('who asks for much has fewer slots than another one, which waits behind none of its work', async () => {
  const slots = slotsWith()
  const quiet = await slots.acquire('quiet')
  const { given } = crowd(slots, 'noisy', 5)
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
  // What is left is little enough for both to run.
  given[2]?.()
  await settled()
  expect(given).toHaveLength(5)
  for (const release of [quiet, again, ...given]) release()
  expect(slots.size).toBe(0)
})

test('who is alone has more, until another one comes, and for a while after that', async () => {
  const clock = new ManualClock()
  const slots = slotsWith(clock)
  const { given } = crowd(slots, 'crowd', 10)
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

test('who gives up leaves the line, and nothing of it stays', async () => {
  const slots = slotsWith()
  const gone = new AbortController()
  const { given, failed } = crowd(slots, 'a', 5, gone.signal)
  await settled()
  gone.abort(new Error('gone'))
  await settled()
  expect(failed).toHaveLength(2)
  for (const release of given) release()
  expect(slots.size).toBe(0)
})

test('work that fails frees its slot', async () => {
  const slots = slotsWith()
  await expect(slots.run('a', () => Promise.reject(new Error('failed')))).rejects.toThrow('failed')
  expect(slots.size).toBe(0)
})
