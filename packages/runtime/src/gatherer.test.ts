import { RetryableError } from '@heddle/contracts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Gatherer, type GathererOptions, splitUnlessAway } from './gatherer.js'

const tick = () => new Promise((resolve) => setImmediate(resolve))

/** A gatherer of strings, with a manual clock; batches with the string `hangs` are ended by the test. */
function recording(options: Partial<GathererOptions<string>> = {}) {
  const flushed: string[] = []
  const ends: (() => void)[] = []
  const timers = new Map<() => void, number>()
  const gatherer = new Gatherer<string>({
    flush: async (items) => {
      flushed.push(items.join(' '))
      if (items.includes('hangs')) await new Promise<void>((resolve) => ends.push(resolve))
      if (items.includes('bad')) throw new Error('refused')
    },
    clock: {
      after(ms, callback) {
        timers.set(callback, ms)
        return () => timers.delete(callback)
      },
    },
    ...options,
  })
  return {
    gatherer,
    flushed,
    timers,
    pauses: () => [...timers.values()],
    addAll: (words: string) => Promise.allSettled(words.split(' ').map((word) => gatherer.add(word))),
    async passTime() {
      for (const timer of [...timers.keys()]) if (timers.delete(timer)) timer()
      await tick()
    },
    async endBatch() {
      ends.shift()?.()
      // The next batch starts at the end of the tick in which this one ended.
      await tick()
      await tick()
    },
  }
}

const failed = (results: readonly PromiseSettledResult<void>[]) =>
  results.flatMap(({ status }, index) => (status === 'rejected' ? [index] : []))

describe('batches', () => {
  it('contain the items of one tick', async () => {
    const { flushed, addAll } = recording()
    await addAll('a b c')
    await addAll('d')
    expect(flushed).toEqual(['a b c', 'd'])
  })

  it('are limited by items and by weights, and an item that is too heavy is a batch of its own', async () => {
    const { flushed, addAll } = recording({ itemsMax: 3, weights: [{ of: (word) => word.length, max: 6 }] })
    await addAll('a b c dddd ee fff heavyheavy g')
    expect(flushed).toEqual(['a b c', 'dddd ee', 'fff', 'heavyheavy', 'g'])
  })

  it('contain items of one key, and keys do not wait for each other', async () => {
    const { flushed, addAll } = recording({ keyOf: (word) => word.charAt(0) })
    void addAll('hangs b1 b2')
    await tick()
    await addAll('b3')
    expect(flushed).toEqual(['hangs', 'b1 b2', 'b3'])
  })

  it('contain only items of different names, in order', async () => {
    const { flushed, addAll } = recording({ nameOf: (word) => word.charAt(0) })
    await addAll('a1 b1 a2 c1 a3')
    expect(flushed).toEqual(['a1 b1', 'a2 c1', 'a3'])
  })

  it('contain one merged item per identity, and another while the first is flushed', async () => {
    const { flushed, addAll, endBatch } = recording({
      identityOf: (word) => word.charAt(0),
      merge: (waiting, added) => waiting + added,
    })
    const first = addAll('hangs a a b')
    await tick()
    const second = addAll('a hello')
    await endBatch()
    await Promise.all([first, second])
    expect(flushed).toEqual(['hangs aa b', 'a hello'])
  })

  it('are limited in concurrency, and items added meanwhile form one batch', async () => {
    const { flushed, addAll, endBatch } = recording({ batchesMax: 2, itemsMax: 2 })
    const all = [addAll('hangs 1 hangs 2 3')]
    await tick()
    await tick()
    all.push(addAll('4'))
    expect(flushed).toEqual(['hangs 1', 'hangs 2'])
    await endBatch()
    expect(flushed.at(-1)).toBe('3 4')
    await endBatch()
    await Promise.all(all)
  })

  it('that run concurrently never contain items of one lane', async () => {
    const { flushed, addAll, endBatch } = recording({ batchesMax: 2, itemsMax: 1, laneOf: (word) => word.charAt(0) })
    const all = addAll('hangs h2 b1 b2')
    for (let ticks = 0; ticks < 4; ticks++) await tick()
    expect(flushed).toEqual(['hangs', 'b1', 'b2'])
    await endBatch()
    await all
    expect(flushed).toEqual(['hangs', 'b1', 'b2', 'h2'])
  })

  it('start beside another if enough items with free lanes wait', async () => {
    const { flushed, addAll, endBatch } = recording({
      batchesMax: 2,
      laneOf: (word) => word.charAt(0),
      weights: [{ of: (word) => word.length, max: 100 }],
      anotherFrom: { items: 3, weight: 10 },
    })
    const all = [addAll('hangs')]
    await tick()
    all.push(addAll('h2 h3 a b'))
    await tick()
    expect(flushed).toEqual(['hangs'])
    all.push(addAll('c'))
    await tick()
    expect(flushed).toEqual(['hangs', 'a b c'])
    all.push(addAll('eeeeeeeeee'))
    await tick()
    expect(flushed).toEqual(['hangs', 'a b c', 'eeeeeeeeee'])
    await endBatch()
    await Promise.all(all)
    expect(flushed.at(-1)).toBe('h2 h3')
  })
})

describe('pauses', () => {
  it('let the first item of an idle key wait for others, but not those added during a flush', async () => {
    const { flushed, pauses, addAll, passTime, endBatch } = recording({ delayMs: 20 })
    const all = [addAll('a hangs')]
    await tick()
    expect([flushed, pauses()]).toEqual([[], [20]])
    await passTime()
    all.push(addAll('b c'))
    await endBatch()
    expect([flushed, pauses()]).toEqual([['a hangs', 'b c'], []])
    await Promise.all(all)
  })

  it('end their delay when a full batch waits', async () => {
    const { flushed, pauses, addAll } = recording({ delayMs: 20, itemsMax: 2 })
    await addAll('a b')
    expect([flushed, pauses()]).toEqual([['a b'], []])
  })

  it('keep their delay when a full batch waits, with delaysFull', async () => {
    const { flushed, pauses, addAll, passTime } = recording({ delayMs: 20, itemsMax: 2, delaysFull: true })
    const all = addAll('a b c')
    await tick()
    expect([flushed, pauses()]).toEqual([[], [20]])
    await passTime()
    await all
    expect([flushed, pauses()]).toEqual([['a b', 'c'], []])
  })

  it('are delayed after a batch by its size, also if no item waits', async () => {
    const { flushed, pauses, addAll, passTime } = recording({ restMs: (items) => items * 10 })
    await addAll('a b')
    await tick()
    expect(pauses()).toEqual([20])
    void addAll('c')
    await tick()
    expect(flushed).toEqual(['a b'])
    await passTime()
    await passTime()
    expect([flushed, pauses()]).toEqual([['a b', 'c'], []])
  })

  it('start at once on a flush, which ends when all items have ended', async () => {
    const { gatherer, flushed, addAll, endBatch } = recording({ delayMs: 20, keyOf: (word) => word })
    void addAll('a hangs')
    let isOver = false
    const flush = gatherer.flush().then(() => {
      isOver = true
    })
    await tick()
    void addAll('meanwhile')
    await tick()
    expect([flushed, isOver]).toEqual([['a', 'hangs', 'meanwhile'], false])
    await endBatch()
    await flush
    void addAll('later')
    await tick()
    expect(flushed).not.toContain('later')
  })
})

describe('a refused batch', () => {
  it('fails, and later ones do not', async () => {
    const { flushed, addAll } = recording()
    expect(failed(await addAll('a bad'))).toEqual([0, 1])
    expect(failed(await addAll('b'))).toEqual([])
    expect(flushed).toEqual(['a bad', 'b'])
  })

  it('may also fail the items that wait behind it', async () => {
    const { flushed, addAll } = recording({ itemsMax: 1, onRefused: () => 'reject-waiting' })
    expect(failed(await addAll('bad a b'))).toEqual([0, 1, 2])
    await addAll('c')
    expect(flushed).toEqual(['bad', 'c'])
  })

  it('may be halved until the invalid item is alone', async () => {
    const { flushed, addAll } = recording({ onRefused: splitUnlessAway })
    expect(failed(await addAll('a b c bad d e f'))).toEqual([3])
    expect(flushed).toEqual(['a b c bad d e f', 'a b c bad', 'a b', 'c bad', 'c', 'bad', 'd e f'])
  })

  it('is not halved while the server is unavailable', async () => {
    let flushes = 0
    const flush = () => Promise.reject(new RetryableError('SERVICE_UNAVAILABLE', `away ${++flushes}`))
    const { addAll } = recording({ flush, onRefused: splitUnlessAway })
    expect(failed(await addAll('a b c'))).toEqual([0, 1, 2])
    expect(flushes).toBe(1)
  })

  it('may fail only the named items, and the others are retried first', async () => {
    const { flushed, addAll } = recording({ itemsMax: 3, onRefused: () => (word) => word === 'bad' })
    expect(failed(await addAll('a bad b c'))).toEqual([1])
    expect(flushed).toEqual(['a bad b', 'a b c'])
  })

  it('is not retried forever if no item is named', async () => {
    const { addAll } = recording({ onRefused: () => () => false })
    expect(failed(await addAll('a bad'))).toEqual([0, 1])
  })
})

describe('closing', () => {
  it('flushes waiting items, and ends all delays', async () => {
    const { gatherer, flushed, pauses, addAll } = recording({ delayMs: 20, restMs: () => 30, keyOf: (word) => word })
    const all = addAll('a b')
    await gatherer.close({ timeoutMs: 1_000 })
    await all
    expect([flushed, pauses()]).toEqual([['a', 'b'], []])
    await addAll('later')
    expect([flushed, pauses()]).toEqual([['a', 'b', 'later'], []])
  })

  it('abandons items that are not flushed in time', async () => {
    const { gatherer, addAll, passTime } = recording()
    void addAll('hangs')
    const late: string[] = []
    const closing = gatherer.close({ timeoutMs: 1_000, late: () => void late.push('late') })
    await tick()
    await passTime()
    await closing
    expect([late, gatherer.size]).toEqual([['late'], 1])
  })
})

interface Item {
  readonly id: number
  readonly key: string
  readonly lane: string
  readonly weight: number
  readonly isBad: boolean
}

const item = fc.record({
  key: fc.constantFrom('p', 'q'),
  lane: fc.constantFrom('a', 'b', 'c'),
  weight: fc.integer({ min: 0, max: 12 }),
  isBad: fc.boolean(),
  /** Ticks until the next one. */
  ticks: fc.integer({ min: 0, max: 2 }),
})

it('settles every item once, in the order of its lane and within all limits, for any input and failures', async () => {
  const refusals = fc.constantFrom('reject', 'reject-waiting', 'split', 'named')
  const bounds = fc.record({
    itemsMax: fc.integer({ min: 1, max: 5 }),
    max: fc.integer({ min: 1, max: 20 }),
    batchesMax: fc.integer({ min: 1, max: 3 }),
    anotherFrom: fc.option(
      fc.record({ items: fc.integer({ min: 1, max: 4 }), weight: fc.integer({ min: 1, max: 20 }) }),
      {
        nil: undefined,
      },
    ),
    restTicks: fc.integer({ min: 0, max: 2 }),
    delayTicks: fc.integer({ min: 0, max: 2 }),
  })
  const after = (ticks: number, callback: () => void) => {
    let isCancelled = false
    const step = (left: number) => {
      if (isCancelled) return
      if (left === 0) callback()
      else setImmediate(step, left - 1)
    }
    setImmediate(step, ticks)
    return () => {
      isCancelled = true
    }
  }
  const run = async (
    given: readonly (Omit<Item, 'id'> & { ticks: number })[],
    of: typeof bounds extends fc.Arbitrary<infer B> ? B : never,
    refusal: string,
  ) => {
    const { itemsMax, max, batchesMax, anotherFrom, restTicks, delayTicks } = of
    const underWay: Item[][] = []
    const done: Item[] = []
    const gatherer = new Gatherer<Item>({
      async flush(items, key) {
        const weight = items.reduce((sum, each) => sum + each.weight, 0)
        expect(items.length === 1 || (items.length <= itemsMax && weight <= max)).toBe(true)
        expect(items.every((each) => each.key === key)).toBe(true)
        const beside = underWay.flat().filter((each) => each.key === key)
        expect(underWay.filter(([first]) => first?.key === key).length).toBeLessThan(batchesMax)
        expect(items.some(({ lane }) => beside.some((each) => each.lane === lane))).toBe(false)
        const batch = [...items]
        underWay.push(batch)
        await tick()
        underWay.splice(underWay.indexOf(batch), 1)
        if (batch.some(({ isBad }) => isBad)) throw new Error('refused')
        done.push(...batch)
      },
      keyOf: ({ key }) => key,
      laneOf: ({ lane }) => lane,
      itemsMax,
      weights: [{ of: ({ weight }) => weight, max }],
      batchesMax,
      anotherFrom,
      delayMs: delayTicks,
      restMs: () => restTicks,
      clock: { after },
      onRefused: () =>
        refusal === 'named' ? ({ isBad }) => isBad : (refusal as 'reject' | 'reject-waiting' | 'split'),
    })
    const settled: { id: number; isRefused: boolean }[] = []
    const items = given.map(({ ticks: _ticks, ...each }, id) => ({ ...each, id }))
    const added: Promise<unknown>[] = []
    for (const [index, each] of items.entries()) {
      added.push(
        gatherer.add(each).then(
          () => settled.push({ id: each.id, isRefused: false }),
          () => settled.push({ id: each.id, isRefused: true }),
        ),
      )
      for (let ticks = given[index]?.ticks ?? 0; ticks > 0; ticks--) await tick()
    }
    await gatherer.close({ timeoutMs: Number.POSITIVE_INFINITY })
    await Promise.all(added)

    expect(settled.map(({ id }) => id).sort((one, other) => one - other)).toEqual(items.map(({ id }) => id))
    const refused = new Set(settled.flatMap(({ id, isRefused }) => (isRefused ? [id] : [])))
    expect(done.map(({ id }) => id).sort((one, other) => one - other)).toEqual(
      items.flatMap(({ id }) => (refused.has(id) ? [] : [id])),
    )
    if (refusal === 'split' || refusal === 'named') {
      expect([...refused].sort((one, other) => one - other)).toEqual(
        items.flatMap(({ id, isBad }) => (isBad ? [id] : [])),
      )
    }
    for (const key of ['p', 'q']) {
      for (const lane of ['a', 'b', 'c']) {
        const ids = done.filter((each) => each.key === key && each.lane === lane).map(({ id }) => id)
        expect(ids).toEqual([...ids].sort((one, other) => one - other))
      }
    }
    expect(gatherer.size).toBe(0)
  }
  await fc.assert(fc.asyncProperty(fc.array(item, { maxLength: 30 }), bounds, refusals, run), { numRuns: 300 })
})

describe('callers with a time limit', () => {
  const limit = { timeoutMs: 800, late: () => new Error('late') }

  it('get the error in the round of the limit, while their batch and the waiting items go on', async () => {
    const { gatherer, flushed, passTime, endBatch, pauses } = recording({ itemsMax: 1, limit })
    const first = gatherer.add('hangs')
    await tick()
    for (let round = 0; round < 4; round++) await passTime()
    const second = gatherer.add('b')
    expect(pauses()).toEqual([100])
    for (let round = 4; round < 7; round++) await passTime()
    await expect(Promise.race([first, Promise.resolve('waits')])).resolves.toBe('waits')
    await passTime()
    await expect(first).rejects.toThrow('late')
    await expect(Promise.race([second, Promise.resolve('waits')])).resolves.toBe('waits')
    for (let round = 8; round < 12; round++) await passTime()
    await expect(second).rejects.toThrow('late')
    expect(flushed).toEqual(['hangs'])
    await endBatch()
    expect(flushed).toEqual(['hangs', 'b'])
    expect(gatherer.size).toBe(0)
  })

  it('leave no timer once all are settled, also not on an idle gatherer', async () => {
    const { addAll, pauses, passTime } = recording({ limit })
    expect(pauses()).toEqual([])
    await addAll('a b')
    expect(pauses()).toEqual([])
    await passTime()
    await addAll('c')
    expect(pauses()).toEqual([])
  })

  it('wait the same time if the event loop was blocked and the answers came behind the timer', async () => {
    const { gatherer, passTime, pauses, timers, endBatch } = recording({ limit })
    for (let block = 0; block < 5; block++) {
      const answered = gatherer.add('hangs')
      await tick()
      await tick()
      for (const timer of timers.keys()) {
        timers.delete(timer)
        timer()
      }
      endBatch()
      await answered
      // The batch ends in the same tick, before the timer comes to its end.
      while (gatherer.size > 0) await Promise.resolve()
      await gatherer.add('b')
    }
    await tick()
    expect(pauses()).toEqual([])
    const hanging = gatherer.add('hangs')
    await tick()
    for (let round = 0; round < 7; round++) {
      expect(pauses()).toEqual([100])
      await passTime()
    }
    await expect(Promise.race([hanging, Promise.resolve('waits')])).resolves.toBe('waits')
    await passTime()
    await expect(hanging).rejects.toThrow('late')
  })

  it('of merged items wait their own time, and their item is flushed once', async () => {
    const { gatherer, passTime, flushed, endBatch } = recording({ itemsMax: 1, limit, identityOf: (item) => item })
    gatherer.add('hangs').catch(() => {})
    await tick()
    const old = gatherer.add('a')
    for (let round = 0; round < 8; round++) await passTime()
    await expect(old).rejects.toThrow('late')
    const fresh = gatherer.add('a')
    for (let round = 0; round < 7; round++) await passTime()
    const freshest = gatherer.add('a')
    await passTime()
    await expect(fresh).rejects.toThrow('late')
    await endBatch()
    await endBatch()
    await freshest
    expect(flushed).toEqual(['hangs', 'a'])
    expect(gatherer.size).toBe(0)
  })
})
