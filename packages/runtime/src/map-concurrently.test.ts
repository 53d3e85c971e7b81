import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { mapConcurrently } from './map-concurrently.js'

test('several items are processed at once, and the results are in the order of the items', async () => {
  const begun: number[] = []
  const ends: (() => void)[] = []
  const work = async (item: number) => {
    begun.push(item)
    await new Promise<void>((resolve) => ends.push(resolve))
    return item * 10
  }
  const results = mapConcurrently([1, 2, 3], work, { atOnce: 2 })
  await setImmediate()
  expect(begun).toEqual([1, 2])
  ends[1]?.()
  await setImmediate()
  expect(begun).toEqual([1, 2, 3])
  ends[2]?.()
  ends[0]?.()
  expect(await results).toEqual([10, 20, 30])
})

test('the first failure aborts running work, and no further work is started', async () => {
  const begun: number[] = []
  const aborted: unknown[] = []
  const work = async (item: number, signal: AbortSignal) => {
    begun.push(item)
    if (item === 2) throw new Error('failed')
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
    aborted.push(signal.reason)
  }
  await expect(mapConcurrently([1, 2, 3], work, { atOnce: 2 })).rejects.toThrow('failed')
  await setImmediate()
  expect(begun).toEqual([1, 2])
  expect(aborted).toEqual([new Error('failed')])
})

test('the signal of the caller ends the work', async () => {
  const caller = new AbortController()
  const work = async (_item: number, signal: AbortSignal) => {
    await setImmediate()
    signal.throwIfAborted()
  }
  const results = mapConcurrently([1, 2], work, { atOnce: 1, signal: caller.signal })
  caller.abort(new Error('gone'))
  await expect(results).rejects.toThrow('gone')
})
