import { createLogger } from '@heddle/runtime'
import { expect, test } from 'vitest'
import { ManualClock } from '../../../../test/support/src/manual-clock.js'
import type { ProxyBackend, SettingsMode } from '../backend.js'
import { ProxyMetrics } from '../metrics.js'
import { SettingsModes } from './settings-modes.js'

interface Reading {
  readonly agent: string
  resolve(mode: SettingsMode | null): void
  reject(error: Error): void
}

const STUB = { mode: 'stub', source: 'thread' } as const

function openModes() {
  const clock = new ManualClock()
  const readings: Reading[] = []
  const metrics = new ProxyMetrics({ heldBytes: () => 0 })
  const settingsMode: ProxyBackend['settingsMode'] = (_project, { agent }) =>
    new Promise((resolve, reject) => readings.push({ agent, resolve, reject }))
  const backend = () => ({ settingsMode }) as ProxyBackend
  const modes = new SettingsModes({
    metrics,
    clock,
    log: createLogger({ level: 'silent', name: 'test' }),
    lateMs: 50,
    backend,
  })
  return { clock, readings, metrics, modes, read: () => modes.read('p', { agent: 'coder', thread: null }) }
}

test('requests at once share one reading, and later ones do not wait for it', async () => {
  const { clock, readings, read } = openModes()
  const both = Promise.all([read(), read()])
  expect(readings.map(({ agent }) => agent)).toEqual(['coder'])
  readings[0]?.resolve(STUB)
  expect(await both).toEqual([STUB, STUB])
  expect(await read()).toBe(STUB)
  expect(readings).toHaveLength(1)
  await clock.advance(2_000)
  // Read again for later requests.
  expect(await read()).toBe(STUB)
  expect(readings).toHaveLength(2)
  readings[1]?.resolve(null)
  await expect.poll(read).toBeNull()
})

test('a change is seen at latest by a request five seconds later', async () => {
  const { clock, readings, read } = openModes()
  const first = read()
  readings[0]?.resolve({ mode: 'compact', source: 'agent' })
  expect(await first).toMatchObject({ mode: 'compact' })
  await clock.advance(5_000)
  const second = read()
  readings[1]?.resolve({ mode: 'observe', source: 'agent' })
  expect(await second).toMatchObject({ mode: 'observe' })
})

test('a store that hangs delays one request by the limit; then the last known mode holds, without waiting', async () => {
  const { clock, metrics, readings, modes, read } = openModes()
  const first = read()
  readings[0]?.resolve(STUB)
  expect(await first).toBe(STUB)
  await clock.advance(6_000)
  const late = read()
  await clock.advance(50)
  expect(await late).toBe(STUB)
  await clock.advance(100)
  expect(await read()).toBe(STUB)
  expect(await modes.read('p', { agent: 'unknown', thread: null })).toBeNull()
  expect(readings).toHaveLength(2)
  const text = await metrics.read()
  expect(text).toContain('heddle_proxy_modes_unknown_total{reason="late"} 1')
  expect(text).toContain('heddle_proxy_modes_unknown_total{reason="away"} 1')
})

test('a store that fails is asked again after two seconds', async () => {
  const { clock, metrics, readings, read } = openModes()
  const failed = read()
  readings[0]?.reject(new Error('away'))
  expect(await failed).toBeNull()
  expect(await read()).toBeNull()
  expect(readings).toHaveLength(1)
  await clock.advance(2_000)
  const next = read()
  readings[1]?.resolve(STUB)
  expect(await next).toBe(STUB)
  expect(await metrics.read()).toContain('heddle_proxy_modes_unknown_total{reason="failed"} 1')
})

test('a thread that was never read has the last known mode of its agent while the store does not answer', async () => {
  const { readings, modes } = openModes()
  const first = modes.read('p', { agent: 'coder', thread: 'one' })
  readings[0]?.resolve({ mode: 'observe', source: 'agent' })
  await first
  const failing = modes.read('p', { agent: 'coder', thread: 'two' })
  readings[1]?.reject(new Error('away'))
  expect(await failing).toEqual({ mode: 'observe', source: 'agent' })
  expect(await modes.read('p', { agent: 'coder', thread: 'three' })).toEqual({ mode: 'observe', source: 'agent' })
  expect(await modes.read('p', { agent: 'other', thread: 'four' })).toBeNull()
})
