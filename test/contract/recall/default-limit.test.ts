import { afterAll, beforeAll, expect, test } from 'vitest'
import { freshStore, type TestStore } from '../store/support.js'
import { archive, clientOn } from './support.js'

let database: TestStore
beforeAll(async () => {
  database = await freshStore()
})
afterAll(() => database.drop())

test('a recall without a limit returns up to 2,000 tokens, and says that there is more', async () => {
  const content = Array.from({ length: 3_000 }, (_, index) => `line ${index + 1} of the file`).join('\n')
  const { ref } = await archive(database, content)
  const { tokenCount, truncated } = await clientOn(database).recall({ ref, thread: 'cloth' })
  expect(truncated).toBe(true)
  expect(tokenCount).toBeLessThanOrEqual(2_000)
  expect(tokenCount).toBeGreaterThan(1_900)
})
