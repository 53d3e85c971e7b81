import { expect, test } from 'vitest'
import { ManualClock } from '../../../../test/support/src/manual-clock.js'
import { createDueClock } from './due-clock.js'

const YEAR_MS = 365 * 86_400_000

function recorded() {
  const lines: string[] = []
  const note = (_facts: unknown, message: string) => void lines.push(message)
  return { lines, log: { warn: note, info: note } as never }
}

test('a clock jump of the machine, of the database or of both makes nothing due, and is logged once', async () => {
  const clock = new ManualClock()
  const { lines, log } = recorded()
  let serverAheadMs = 0
  const startedMs = clock.nowMs()
  const readServerMs = async () => startedMs + clock.monotonicMs() + serverAheadMs
  const due = createDueClock({ clock, log, readServerMs })
  expect(await due.nowMs()).toBe(startedMs)
  clock.jump(YEAR_MS)
  expect(await due.nowMs()).toBe(startedMs)
  serverAheadMs = YEAR_MS
  expect(await due.nowMs()).toBe(startedMs)
  clock.jump(-YEAR_MS)
  expect(await due.nowMs()).toBe(startedMs)
  expect(lines).toHaveLength(1)
  serverAheadMs = 0
  await clock.advance(1_000)
  expect(await due.nowMs()).toBe(startedMs + 1_000)
  expect(lines.at(-1)).toBe('clocks agree again')
})

test('a clock that was set back is used, and without an answer of the database nothing is due', async () => {
  const clock = new ManualClock()
  const startedMs = clock.nowMs()
  const readServerMs = async () => startedMs + clock.monotonicMs()
  const due = createDueClock({ clock, log: recorded().log, readServerMs })
  clock.jump(-YEAR_MS)
  expect(await due.nowMs()).toBe(clock.nowMs())
  const silent = createDueClock({ clock, log: recorded().log, readServerMs: () => Promise.reject(new Error('away')) })
  expect(await silent.nowMs()).toBeNull()
})
