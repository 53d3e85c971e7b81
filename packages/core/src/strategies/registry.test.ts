import { defaultSettings, mergeSettings, parse, settingsSchema } from '@heddle/contracts'
import { expect, test } from 'vitest'
import { defineStrategy } from './define.js'
import { laneOf } from './lane-of.js'
import { registerStrategy, strategyOf } from './registry.js'

test('an unregistered strategy is refused with the known names', () => {
  const settings = { ...defaultSettings, strategy: 'mine' }
  expect(() => parse(settingsSchema, settings, 'settings')).toThrow(/must be one of sandwich, sliding-window/)
  expect(() => strategyOf(settings)).toThrow(
    expect.objectContaining({ code: 'VALIDATION_ERROR', message: expect.stringMatching(/must be one of sandwich/) }),
  )
})

test('a registered strategy is found by its name, once, and its settings make a lane of their own', () => {
  registerStrategy('registry-test', ({ budget }) =>
    defineStrategy({ name: 'registry-test', preserveTop: budget === 1_000 ? 1 : 2 }),
  )
  const laneWith = (budget: number) => laneOf(mergeSettings({ strategy: 'registry-test', budget }))
  expect(parse(settingsSchema, mergeSettings({ strategy: 'registry-test' }), 'settings').strategy).toBe('registry-test')
  expect(laneWith(1_000).strategy.preserveTop).toBe(1)
  expect(laneWith(1_000).key).not.toBe(laneWith(2_000).key)
  expect(() => registerStrategy('registry-test', () => defineStrategy({ name: 'other' }))).toThrow(/not taken/)
  expect(() => registerStrategy('sandwich', () => defineStrategy({ name: 'other' }))).toThrow(/not taken/)
})

test.each([
  [{ preserveTop: -1 }, /preserveTop: must be a whole number/],
  [{ preserveBottom: 1.5 }, /preserveBottom: must be a whole number/],
  [{ compressionThreshold: 0 }, /compressionThreshold: must be a share/],
])('rules out of bounds are refused by their name: %j', (rules, message) => {
  expect(() => defineStrategy({ name: 'odd', ...rules })).toThrow(message)
})

test('lanes of earlier strategies keep the names under which their states are stored', () => {
  expect(laneOf(defaultSettings).key).toBe('sandwich-374cadea38e4')
})
