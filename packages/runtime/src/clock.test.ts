import { describe, expect, it } from 'vitest'
import { systemClock } from './clock.js'

describe('systemClock', () => {
  it('ends a wait with the reason for which it was aborted', async () => {
    const controller = new AbortController()
    const reason = new Error('closing')
    const waiting = systemClock.wait(60_000, controller.signal)
    controller.abort(reason)
    await expect(waiting).rejects.toBe(reason)
    await expect(systemClock.wait(60_000, controller.signal)).rejects.toBe(reason)
  })
})
