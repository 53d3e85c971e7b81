import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { startStallNotice } from './stall-notice.js'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('a stall is reported once, after ten seconds without progress, and the next one again', () => {
  const onStall = vi.fn()
  const notice = startStallNotice(onStall)
  for (let call = 0; call < 5; call++) {
    vi.advanceTimersByTime(9_999)
    notice.progressed()
  }
  expect(onStall).not.toHaveBeenCalled()
  vi.advanceTimersByTime(60_000)
  expect(onStall).toHaveBeenCalledExactlyOnceWith(10)
  notice.progressed()
  vi.advanceTimersByTime(10_000)
  expect(onStall).toHaveBeenCalledTimes(2)
  notice.stop()
})

test('a stopped notice reports nothing', () => {
  const onStall = vi.fn()
  startStallNotice(onStall).stop()
  vi.advanceTimersByTime(60_000)
  expect(onStall).not.toHaveBeenCalled()
})
