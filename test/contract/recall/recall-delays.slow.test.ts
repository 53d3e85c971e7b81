import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freshStore, type TestStore } from '../store/support.js'
import { archive, clientOn } from './support.js'

let database: TestStore

beforeAll(async () => {
  database = await freshStore()
})
afterAll(() => database.drop())

const recalled = (ref: string, fields: object) => clientOn(database).recall({ ref, thread: 'cloth', ...fields })

/** Longer than the work between two yields on a busy machine, and too short to be noticed. */
const DELAY_MS_MAX = 50

describe('no input of a caller', () => {
  it.each([
    ['one line of four million characters', 'ab '.repeat(1_333_333)],
    ['four million lines', '\n'.repeat(4_000_000)],
    ['four million of one letter', 'a'.repeat(4_000_000)],
    ['two million wide characters', '漢İ'.repeat(1_000_000)],
  ])('blocks a recall for long: %s', async (_, text) => {
    const { ref } = await archive(database, text)
    const calls = [
      {},
      { search: 'b a' },
      { search: '\n' },
      { lines: '1-999999999' },
      { maxTokens: 20_000_000 },
      { maxTokens: 1 },
    ]
    for (const fields of calls) {
      const delayMs = await smallestOf(4, () => longestTickMs(() => recalled(ref, fields)))
      expect(delayMs, JSON.stringify(fields)).toBeLessThan(DELAY_MS_MAX)
    }
  })
})

/**
 * The longest CPU time of the process between two iterations of its event loop. CPU time instead of wall-clock time, since
 * other load on a shared machine delays every process now and then.
 */
async function longestTickMs(work: () => Promise<unknown>): Promise<number> {
  let longest = 0
  let isRunning = true
  let before = process.cpuUsage()
  const tick = () => {
    const { user, system } = process.cpuUsage(before)
    longest = Math.max(longest, (user + system) / 1_000)
    before = process.cpuUsage()
    if (isRunning) setImmediate(tick)
  }
  setImmediate(tick)
  await work()
  // The last computation counts in the iteration after it.
  await new Promise((resolve) => setImmediate(resolve))
  isRunning = false
  return longest
}

/** On a shared machine one attempt alone may be slow; slow code is slow each time. */
async function smallestOf(times: number, measure: () => Promise<number>): Promise<number> {
  let smallest = Number.POSITIVE_INFINITY
  for (let time = 0; time < times && smallest > DELAY_MS_MAX / 2; time++) {
    smallest = Math.min(smallest, await measure())
  }
  return smallest
}
