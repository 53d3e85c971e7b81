import { setImmediate } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import { ManualClock } from '../../../test/support/src/manual-clock.js'
import { withDeadline, within } from './timeout.js'

const never = new Promise<never>(() => {})
const late = () => {
  throw new Error('late')
}

test('work that ends in time determines the result, and the timer is cancelled', async () => {
  const cancel = vi.fn()
  const clock = { after: () => cancel }
  expect(await within(Promise.resolve(7), { timeoutMs: 10, late, clock })).toBe(7)
  await expect(within(Promise.reject(new Error('broken')), { timeoutMs: 10, late, clock })).rejects.toThrow('broken')
  expect(cancel).toHaveBeenCalledTimes(2)
})

test('work that takes too long gives the result of `late`, or throws its error', async () => {
  const clock = new ManualClock()
  const failed = expect(within(never, { timeoutMs: 10, late, clock })).rejects.toThrow('late')
  const given = within(never, { timeoutMs: 20, late: () => 'nothing', clock })
  await clock.advance(10)
  await failed
  await clock.advance(10)
  expect(await given).toBe('nothing')
})

test('an answer that has arrived when the time has passed counts', async () => {
  let onTime = () => {}
  const clock = {
    after(_ms: number, callback: () => void) {
      onTime = callback
      return () => {}
    },
  }
  let answer = (_value: string) => {}
  const work = new Promise<string>((resolve) => {
    answer = resolve
  })
  const waiting = within(work, { timeoutMs: 10, late, clock })
  onTime()
  answer('there')
  expect(await waiting).toBe('there')
})

test('a late failure of abandoned work is ignored', async () => {
  const clock = new ManualClock()
  let fail = (_error: Error) => {}
  const work = new Promise<never>((_, reject) => {
    fail = reject
  })
  const given = within(work, { timeoutMs: 10, late: () => null, clock })
  await clock.advance(10)
  expect(await given).toBeNull()
  fail(new Error('too late'))
  await setImmediate()
})

test('an infinite timeout needs no timer', async () => {
  expect(await within(Promise.resolve(1), { timeoutMs: Number.POSITIVE_INFINITY, late })).toBe(1)
})

test('work with a deadline is aborted by its signal, and fails with its reason', async () => {
  const clock = new ManualClock()
  const stopped = (signal: AbortSignal) =>
    new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(new Error('an error of its own')))
    })
  const late = () => new Error('late')
  const overdue = expect(withDeadline(stopped, { timeoutMs: 10, late, clock })).rejects.toThrow('late')
  const caller = new AbortController()
  const aborted = withDeadline(stopped, { timeoutMs: 20, late, clock, signal: caller.signal })
  caller.abort(new Error('gone'))
  await expect(aborted).rejects.toThrow('gone')
  await clock.advance(10)
  await overdue
})

test('work that ends before its deadline determines the result, and its timer is cancelled', async () => {
  const cancel = vi.fn()
  const deadline = { timeoutMs: 10, late: () => new Error('late'), clock: { after: () => cancel } }
  expect(await withDeadline(async (signal) => signal.aborted, deadline)).toBe(false)
  await expect(withDeadline(() => Promise.reject(new Error('broken')), deadline)).rejects.toThrow('broken')
  expect(cancel).toHaveBeenCalledTimes(2)
})
