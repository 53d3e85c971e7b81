import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { isRunByNpx, onNpxEnded } from './npx-parent.js'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const npx = { npm_lifecycle_event: 'npx', npm_lifecycle_script: "'heddle'" }

test.each([
  { run: 'npx heddle up', env: npx, is: true },
  { run: 'npx -c "heddle up --port 0"', env: { ...npx, npm_lifecycle_script: 'heddle up --port 0' }, is: true },
  { run: 'a program that npx runs, and that starts heddle', env: { ...npx, npm_lifecycle_script: "'app'" }, is: false },
  { run: 'a script of a package', env: { ...npx, npm_lifecycle_event: 'start' }, is: false },
  { run: 'heddle', env: {}, is: false },
])('$run is run by npx: $is', ({ env, is }) => {
  expect(isRunByNpx(env)).toBe(is)
})

test('a command of npx is stopped once when its shell has ended, and not before', () => {
  const self = { env: npx, ppid: 700 }
  const stop = vi.fn()
  onNpxEnded(self, stop)
  vi.advanceTimersByTime(60_000)
  expect(stop).not.toHaveBeenCalled()
  self.ppid = 1
  vi.advanceTimersByTime(60_000)
  expect(stop).toHaveBeenCalledOnce()
})

test('a command that npx did not start may outlive its parent', () => {
  const self = { env: {}, ppid: 700 }
  const stop = vi.fn()
  onNpxEnded(self, stop)
  self.ppid = 1
  vi.advanceTimersByTime(60_000)
  expect(stop).not.toHaveBeenCalled()
})
