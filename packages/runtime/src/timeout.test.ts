import { setImmediate } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import { ManualClock } from '../../../test/support/src/manual-clock.js'
import { withDeadline, within } from './timeout.js'

const never = new Promise<never>(() => {})
const late = () => {
  throw new Error('late')
}

test('work that is done in time is the outcome, and nothing is waited for afterwards', async () => {
  const cancel = vi.fn()
  const clock = { after: () => cancel }
  expect(await within(Promise.resolve(7), { timeoutMs: 10, late, clock })).toBe(7)
  await expect(within(Promise.reject(new Error('broken')), { timeoutMs: 10, late, clock })).rejects.toThrow('broken')
  expect(cancel).toHaveBeenCalledTimes(2)
})

test('work that takes too long gives what is said of it, or throws it', async () => {
  const clock = new ManualClock()
  const failed = expect(within(never, { timeoutMs: 10, late, clock })).rejects.toThrow('late')
  const given = within(never, { timeoutMs: 20, late: () => 'nothing', clock })
  await clock.advance(10)
  await failed
  await clock.advance(10)
  expect(await given).toBe('nothing')
})

test('an answer that is there when the time has passed counts', async () => {
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

test('how work ends that was given up is nobody’s error', async () => {
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

test('a time without end is waited for without a timer', async () => {
  expect(await within(Promise.resolve(1), { timeoutMs: Number.POSITIVE_INFINITY, late })).toBe(1)
})

test('work with a deadline is told to stop by its signal, and fails with the reason of that', async () => {
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

test('work that ends before its deadline is the outcome, and its timer is cancelled', async () => {
  const cancel = vi.fn()
  const deadline = { timeoutMs: 10, late: () => new Error('late'), clock: { after: () => cancel } }
  expect(await withDeadline(async (signal) => signal.aborted, deadline)).toBe(false)
  await expect(withDeadline(() => Promise.reject(new Error('broken')), deadline)).rejects.toThrow('broken')
  expect(cancel).toHaveBeenCalledTimes(2)
})
