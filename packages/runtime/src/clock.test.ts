import { describe, expect, it } from 'vitest'
import { systemClock } from './clock.js'

describe('systemClock', () => {
  it('ends a wait with the reason of the abort', async () => {
    const controller = new AbortController()
    const reason = new Error('closing')
    const waiting = systemClock.wait(60_000, controller.signal)
    controller.abort(reason)
    await expect(waiting).rejects.toBe(reason)
    await expect(systemClock.wait(60_000, controller.signal)).rejects.toBe(reason)
  })

  it('removes its listener from a signal after the wait', async () => {
    const { signal } = new AbortController()
    const removed: string[] = []
    const remove = signal.removeEventListener.bind(signal)
    signal.removeEventListener = (type: string, listener: () => void) => {
      removed.push(type)
      remove(type, listener)
    }
    await systemClock.wait(1, signal)
    expect(removed).toEqual(['abort'])
  })

  it('calls back, unless it is cancelled', async () => {
    const called: string[] = []
    const cancel = systemClock.after(1, () => called.push('called off'))
    cancel()
    await new Promise<void>((resolve) => systemClock.after(2, resolve))
    expect(called).toEqual([])
  })
})
