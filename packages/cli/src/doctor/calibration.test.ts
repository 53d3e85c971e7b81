import { expect, test } from 'vitest'
import { calibrationCheck } from './calibration.js'

test('doctor names the agents whose providers count the most, and whether that is used', () => {
  const learnt = [{ agent: 'coder', model: 'claude-opus-4-5', ratio: 1.45, offset: 50_500, margin: 0.05 }]
  expect(calibrationCheck(learnt, true)).toMatchObject({
    name: 'calibration',
    detail: 'agent "coder", "claude-opus-4-5": 1.45 for one of our tokens, 50500 besides, margin 5 %',
  })
  expect(calibrationCheck([], true).detail).toContain('nothing learnt yet')
  expect(calibrationCheck(learnt, false).detail).toContain('off')
})
