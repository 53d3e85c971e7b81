import { limits } from '@heddle/contracts'
import { expect, test } from 'vitest'
import { ASKED_AGAIN_MS, HELD_MS, isRecorded } from './lane-keeping.js'

const NOW_MS = 1_000_000_000
const kept = (count: number, askedAtMs: number) =>
  Array.from({ length: count }, (_, index) => ({ lane: `lane-${index}`, askedAtMs }))

test('a lane is recorded when its first compaction is due, and again only after some minutes', () => {
  expect(isRecorded('new', [], { isDue: true, nowMs: NOW_MS })).toBe(true)
  expect(isRecorded('new', [], { isDue: false, nowMs: NOW_MS })).toBe(false)
  const known = (ageMs: number) => [{ lane: 'known', askedAtMs: NOW_MS - ageMs }]
  expect(isRecorded('known', known(ASKED_AGAIN_MS), { isDue: true, nowMs: NOW_MS })).toBe(false)
  expect(isRecorded('known', known(ASKED_AGAIN_MS + 1), { isDue: false, nowMs: NOW_MS })).toBe(true)
})

test('beyond the limit a new lane is recorded only if another was not requested for an hour', () => {
  const full = kept(limits.keptLanesPerThreadMax, NOW_MS - HELD_MS + 1)
  expect(isRecorded('new', full, { isDue: true, nowMs: NOW_MS })).toBe(false)
  expect(isRecorded('new', full.slice(1), { isDue: true, nowMs: NOW_MS })).toBe(true)
  expect(isRecorded('new', full, { isDue: true, nowMs: NOW_MS + 1 })).toBe(true)
})
