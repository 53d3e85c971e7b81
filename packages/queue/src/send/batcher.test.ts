import { describe, expect, it } from 'vitest'
import { Batcher } from './batcher.js'

function recording(
  limits: { itemsMax?: number; weightMax?: number; flushesMax?: number; failsAll?: () => boolean } = {},
) {
  const flushed: string[][] = []
  const finish: (() => void)[] = []
  const batcher = new Batcher<string>({
    itemsMax: 100,
    weightMax: 1_000,
    flushesMax: 1,
    ...limits,
    flush: async (items) => {
      flushed.push([...items])
      if (items.includes('fails')) throw new Error('refused')
      if (items.includes('hangs')) await new Promise<void>((resolve) => finish.push(resolve))
    },
  })
  return { batcher, flushed, finish }
}

describe('a batcher', () => {
  it('flushes what comes within one tick together', async () => {
    const { batcher, flushed } = recording()
    await Promise.all([batcher.add('a', 1), batcher.add('b', 1), batcher.add('c', 1)])
    await batcher.add('d', 1)
    expect(flushed).toEqual([['a', 'b', 'c'], ['d']])
  })

  it('flushes one item of a key, and one more when the first is on its way', async () => {
    const { batcher, flushed, finish } = recording({ flushesMax: 2 })
    const first = Promise.all([batcher.add('hangs', 1, 'k'), batcher.add('same', 1, 'k'), batcher.add('other', 1, 'l')])
    await new Promise((resolve) => setImmediate(resolve))
    await batcher.add('again', 1, 'k')
    expect(flushed).toEqual([['hangs', 'other'], ['again']])
    finish[0]?.()
    await first
  })

  it('keeps to the limits of a batch, but lets a heavy item go alone', async () => {
    const { batcher, flushed } = recording({ itemsMax: 2, weightMax: 10 })
    await Promise.all([
      batcher.add('a', 1),
      batcher.add('b', 1),
      batcher.add('c', 9),
      batcher.add('d', 2),
      batcher.add('heavy', 99),
      batcher.add('e', 1),
    ])
    expect(flushed).toEqual([['a', 'b'], ['c'], ['d'], ['heavy'], ['e']])
  })

  it('tells a failure to those who were in the batch, and goes on', async () => {
    const { batcher, flushed } = recording()
    const results = await Promise.allSettled([batcher.add('fails', 1), batcher.add('with it', 1)])
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    await batcher.add('later', 1)
    expect(flushed).toEqual([['fails', 'with it'], ['later']])
  })

  it('refuses what waits behind a failure that concerns all', async () => {
    const { batcher, flushed } = recording({ itemsMax: 1, failsAll: () => true })
    const results = await Promise.allSettled([batcher.add('fails', 1), batcher.add('waits', 1, 'k')])
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    await batcher.add('later', 1, 'k')
    expect(flushed).toEqual([['fails'], ['later']])
  })

  it('is idle when everything has been flushed', async () => {
    const { batcher, finish } = recording()
    await batcher.whenIdle()
    const added = batcher.add('hangs', 1)
    let idle = false
    const waiting = batcher.whenIdle().then(() => {
      idle = true
    })
    await new Promise((resolve) => setImmediate(resolve))
    expect(idle).toBe(false)
    finish[0]?.()
    await added
    await waiting
  })
})
