import { EventEmitter } from 'node:events'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { bounds } from '../base/bounds.js'
import { dropWhenSilent } from './silence.js'

class Stream extends EventEmitter {
  bytesWritten = 0
  isDropped = false

  write(): void {
    this.bytesWritten += 10
  }

  destroy(): void {
    this.isDropped = true
    this.emit('close')
  }
}

let stream: Stream
beforeEach(() => {
  vi.useFakeTimers()
  stream = new Stream()
  dropWhenSilent(stream)
})
afterEach(() => void vi.useRealTimers())

const pass = (ms: number) => vi.advanceTimersByTime(ms)

test('a connection is dropped once its server has not answered for long', () => {
  stream.write()
  pass(bounds.silentMs)
  expect(stream.isDropped).toBe(false)
  pass(2_000)
  expect(stream.isDropped).toBe(true)
  expect(vi.getTimerCount()).toBe(0)
})

test('a connection stays while it is idle, and while its server answers', () => {
  pass(10 * bounds.silentMs)
  for (let command = 0; command < 10; command++) {
    stream.write()
    pass(bounds.silentMs - 2_000)
    stream.emit('data')
    // The next command follows at once, as those of workers that wait for jobs.
    stream.write()
    pass(bounds.silentMs - 2_000)
    stream.emit('data')
  }
  pass(10 * bounds.silentMs)
  expect(stream.isDropped).toBe(false)
})

test('nothing is left of a connection that was closed before its answer', () => {
  stream.write()
  stream.emit('close')
  expect(vi.getTimerCount()).toBe(0)
})
