import { defaultSettings, type PartialSettings } from '@heddle/contracts'
import { expect, test } from 'vitest'
import { laneOf } from './lane-of.js'
import { standIn } from './stand-in.js'

const laneFor = (settings: PartialSettings) => laneOf({ ...defaultSettings, ...settings } as typeof defaultSettings)
const covered = { from: { orderedAtMs: 1, ordinal: 0, id: 'a' }, to: { orderedAtMs: 2, ordinal: 0, id: 'b' } }
const state = { covered, summary: 'They spoke.', summaryTokens: 100 }
const own = laneFor({ budget: 16_000 })

test('a lower limit continues from the state of the own lane, and a higher one fills its budget beside its summary', () => {
  expect(standIn({ lane: own, state }, laneFor({ budget: 8_000 }), null)).toBe('continue')
  expect(standIn({ lane: own, state }, laneFor({ budget: 8_000 }), 'cache')).toBe('continue')
  expect(standIn({ lane: own, state }, laneFor({ budget: 32_000 }), null)).toBe('fill')
  expect(standIn({ lane: own, state }, laneFor({ budget: 32_000 }), 'budget')).toBe('fill')
})

test.each([
  ['of another strategy', laneFor({ budget: 8_000, strategy: 'tree' }), state],
  ['without a summary', laneFor({ budget: 8_000 }), { ...state, summary: null }],
  ['that covers nothing', laneFor({ budget: 8_000 }), { ...state, covered: null }],
  ['whose summary is longer than the lane allows', laneFor({ budget: 700 }), state],
])('a state %s does not stand in', (_, lane, other) => {
  expect(standIn({ lane: own, state: other }, lane, null)).toBeNull()
})

test('a request for a stable beginning at a higher limit starts at the first message', () => {
  expect(standIn({ lane: own, state }, laneFor({ budget: 32_000 }), 'cache')).toBeNull()
})
