import { expect, it } from 'vitest'
import { run } from './run.js'

const SEED = 4_680

it('ingest accepts any append or queued payload or refuses it with a typed error', async () => {
  const { crashes, accepted, refused } = await run({ seed: SEED, from: 0, count: 20_000 })
  expect(crashes.map(({ input, error }) => `${input}: ${error instanceof Error ? error.stack : error}`)).toEqual([])
  // The inputs are useful only if both results are frequent.
  expect(accepted).toBeGreaterThan(4_000)
  expect(refused['VALIDATION_ERROR']).toBeGreaterThan(4_000)
}, 180_000)
