import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { ManualClock } from '../../../test/support/src/manual-clock.js'
import { Limiter, type PermitOptions } from './limiter.js'

/** Requests a permit for each key, and records the keys in the order in which they receive one. */
function queueUp(limiter: Limiter, keys: readonly string[], options: Omit<PermitOptions, 'key'> = {}) {
  const served: { readonly key: string; readonly release: () => void }[] = []
  const failed: unknown[] = []
  for (const key of keys) {
    limiter.acquire({ ...options, key }).then(
      (release) => served.push({ key, release }),
      (error: unknown) => failed.push(error),
    )
  }
  return { served, failed }
}

/** Releases permits in the order in which they were granted, until no caller waits. */
async function serveAll(served: readonly { readonly key: string; readonly release: () => void }[]): Promise<string[]> {
  for (let at = 0; ; at++) {
    await setImmediate()
    const next = served[at]
    if (next === undefined) return served.map(({ key }) => key)
    next.release()
  }
}

test('the number of permits in use is limited, and releasing one twice counts once', async () => {
  const limiter = new Limiter({ atOnce: 2 })
  const { served } = queueUp(limiter, ['a', 'a', 'a', 'a'])
  await setImmediate()
  expect(served).toHaveLength(2)
  served[0]?.release()
  served[0]?.release()
  await setImmediate()
  expect(served).toHaveLength(3)
  await serveAll(served.slice(1))
  await serveAll(served.slice(3))
  expect(limiter.keys).toBe(0)
})

test('keys are served round-robin, each in the order of its calls', async () => {
  const limiter = new Limiter({ atOnce: 1 })
  const { served } = queueUp(limiter, ['a', 'a', 'a', 'b', 'c', 'c'])
  expect(await serveAll(served)).toEqual(['a', 'a', 'b', 'c', 'a', 'c'])
})

test('callers with priority get their permits before all others, whose order is unchanged', async () => {
  const limiter = new Limiter({ atOnce: 1 })
  const { served } = queueUp(limiter, ['a', 'a', 'b'])
  const first = queueUp(limiter, ['c', 'c'], { isFirst: true })
  await setImmediate()
  served[0]?.release()
  expect(await serveAll(first.served)).toEqual(['c', 'c'])
  expect(await serveAll(served.slice(1))).toEqual(['a'])
  expect(await serveAll(served.slice(2))).toEqual(['b'])
})

test('a key gets as many permits as its own limit allows when one is released', async () => {
  let limit = 1
  const wantedOfB: number[] = []
  const limiter = new Limiter({
    atOnceOf(key, wanted) {
      if (key === 'b') wantedOfB.push(wanted)
      return key === 'a' ? limit : 1
    },
  })
  const { served } = queueUp(limiter, ['a', 'a', 'a', 'a', 'b'])
  await setImmediate()
  expect(served.map(({ key }) => key)).toEqual(['a', 'b'])
  expect(wantedOfB).toEqual([1])
  limit = 2
  served[0]?.release()
  await setImmediate()
  expect(served.map(({ key }) => key)).toEqual(['a', 'b', 'a', 'a'])
})

test('a permit of one key does not wait for that of another key', async () => {
  const limiter = new Limiter({ atOnce: 2, atOnceOf: () => 1 })
  const { served } = queueUp(limiter, ['a', 'a', 'b'])
  await setImmediate()
  expect(served.map(({ key }) => key)).toEqual(['a', 'b'])
})

test('an aborted caller leaves its lane with the reason', async () => {
  const limiter = new Limiter({ atOnce: 1 })
  const held = await limiter.acquire()
  const stopping = new AbortController()
  const { served, failed } = queueUp(limiter, ['a', 'b'], { signal: stopping.signal })
  const { served: others } = queueUp(limiter, ['c'])
  stopping.abort(new Error('gone'))
  await setImmediate()
  expect(failed).toEqual([new Error('gone'), new Error('gone')])
  held()
  expect(await serveAll(others)).toEqual(['c'])
  expect(served).toEqual([])
  expect(limiter.keys).toBe(0)
  await expect(limiter.acquire({ signal: stopping.signal })).rejects.toThrow('gone')
})

test('a permit is not lost if its caller is aborted during its admission', async () => {
  const limiter = new Limiter({ atOnce: 1 })
  const held = await limiter.acquire()
  const stopping = new AbortController()
  const waiting = limiter.acquire({ signal: stopping.signal })
  const next = limiter.acquire({ key: 'next' })
  held()
  stopping.abort(new Error('gone'))
  await expect(waiting).rejects.toThrow('gone')
  ;(await next)()
  expect(limiter.keys).toBe(0)
})

test('a caller that waits for too long gets the timeout error, and the next permit goes to another one', async () => {
  const clock = new ManualClock()
  const limiter = new Limiter({ atOnce: 1, clock, deadline: { timeoutMs: 1_000, error: () => new Error('too long') } })
  const held = await limiter.acquire()
  const late = expect(limiter.acquire()).rejects.toThrow('too long')
  await clock.advance(500)
  const next = limiter.acquire()
  await clock.advance(500)
  await late
  held()
  ;(await next)()
  expect(limiter.keys).toBe(0)
})

test('a limiter is idle once the last permit is released, and waiting callers have no permit', async () => {
  const limiter = new Limiter({ atOnce: 1 })
  await limiter.whenIdle()
  const held = await limiter.acquire()
  const stopping = new AbortController()
  const waiting = limiter.acquire({ signal: stopping.signal })
  const idle = limiter.whenIdle()
  held()
  stopping.abort(new Error('closed'))
  await expect(waiting).rejects.toThrow('closed')
  await idle
})

test('work that fails releases its permit', async () => {
  const limiter = new Limiter({ atOnce: 1 })
  await expect(limiter.run(() => Promise.reject(new Error('failed')))).rejects.toThrow('failed')
  expect(await limiter.run(async () => 7)).toBe(7)
  expect(limiter.keys).toBe(0)
})
