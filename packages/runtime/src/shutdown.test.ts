import { EventEmitter, once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { createLogger } from './logger.js'
import { onShutdown, type ShutdownHost } from './shutdown.js'

const log = createLogger({ level: 'silent', name: 'test' })

function host() {
  const signals = new EventEmitter()
  const codes: number[] = []
  const exits = new EventEmitter()
  const shutdownHost: ShutdownHost = {
    on: (signal, listener) => signals.on(signal, listener),
    off: (signal, listener) => signals.off(signal, listener),
    exit(code) {
      codes.push(code)
      exits.emit('exit')
    },
  }
  return { signals, codes, exits, shutdownHost }
}

describe('onShutdown', () => {
  it('closes once and exits with 0', async () => {
    const { signals, codes, exits, shutdownHost } = host()
    const reasons: string[] = []
    onShutdown(async (reason) => void reasons.push(reason), { timeoutMs: 10_000, log, host: shutdownHost })
    const exited = once(exits, 'exit')
    signals.emit('SIGTERM')
    await exited
    expect(reasons).toEqual(['SIGTERM'])
    expect(codes).toEqual([0])
  })

  it('exits with the code of the signal where work is left', async () => {
    const { signals, codes, exits, shutdownHost } = host()
    onShutdown(async () => undefined, { timeoutMs: 10_000, log, leavesWork: true, host: shutdownHost })
    const exited = once(exits, 'exit')
    signals.emit('SIGINT')
    await exited
    expect(codes).toEqual([130])
  })

  it('exits at once on a second signal', async () => {
    const { signals, codes, shutdownHost } = host()
    onShutdown(() => new Promise(() => {}), { timeoutMs: 50, log, host: shutdownHost })
    signals.emit('SIGINT')
    signals.emit('SIGINT')
    expect(codes).toEqual([130])
  })

  it('exits with 1 when closing takes too long, or fails', async () => {
    const slow = host()
    onShutdown(() => new Promise(() => {}), { timeoutMs: 1, log, host: slow.shutdownHost })
    const slowExit = once(slow.exits, 'exit')
    slow.signals.emit('SIGTERM')
    await slowExit
    expect(slow.codes).toEqual([1])

    const broken = host()
    onShutdown(() => Promise.reject(new Error('broken')), { timeoutMs: 10_000, log, host: broken.shutdownHost })
    const brokenExit = once(broken.exits, 'exit')
    broken.signals.emit('SIGTERM')
    await brokenExit
    expect(broken.codes).toEqual([1])
  })

  it('stops listening when asked to', () => {
    const { signals, shutdownHost } = host()
    const stop = onShutdown(async () => {}, { timeoutMs: 1, log, host: shutdownHost })
    stop()
    expect(signals.listenerCount('SIGINT') + signals.listenerCount('SIGTERM')).toBe(0)
  })
})
