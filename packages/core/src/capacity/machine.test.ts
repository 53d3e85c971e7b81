import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Agenda } from './agenda.js'
import { Machine } from './machine.js'

interface Task {
  readonly atMs: number
  readonly ms: number
}

const tasks = fc.array(fc.record({ atMs: fc.integer({ min: 0, max: 200 }), ms: fc.integer({ min: 1, max: 100 }) }), {
  minLength: 1,
  maxLength: 40,
})

/** @returns when each task ended, and the busy processors on average until the last one */
function runAll(all: readonly Task[], processors: number, { crowding = 0, neighbours = 0 } = {}) {
  const agenda = new Agenda()
  const machine = new Machine(agenda, { processors, crowding, neighbours })
  const endedMs = all.map(() => Number.NaN)
  for (const [index, { atMs, ms }] of all.entries())
    agenda.after(atMs, () => machine.run(ms, () => (endedMs[index] = agenda.nowMs)))
  while (agenda.runNext());
  return { endedMs, busy: machine.busy.mean(), workMs: machine.workMs, untilMs: agenda.nowMs }
}

test('threads that are no more than the processors run at full speed', () => {
  fc.assert(
    fc.property(tasks, (all) => {
      const { endedMs } = runAll(all, all.length)
      for (const [index, { atMs, ms }] of all.entries()) expect(endedMs[index]).toBeCloseTo(atMs + ms, 6)
    }),
  )
})

test('processors give exactly the time that threads asked for, and never more than there are', () => {
  fc.assert(
    fc.property(tasks, fc.integer({ min: 1, max: 8 }), (all, processors) => {
      const { busy, untilMs } = runAll(all, processors)
      expect(busy * untilMs).toBeCloseTo(
        all.reduce((sum, { ms }) => sum + ms, 0),
        4,
      )
      expect(busy).toBeLessThanOrEqual(processors)
    }),
  )
})

test('threads that share one processor end in the order of their remaining time', () => {
  // Until 30 each has had 10, then two share until the second one ends.
  expect(
    runAll(
      [
        { atMs: 0, ms: 10 },
        { atMs: 0, ms: 20 },
        { atMs: 0, ms: 40 },
      ],
      1,
    ).endedMs,
  ).toEqual([30, 50, 70])
  // The second one begins when the first has run for 10 of its 20.
  expect(
    runAll(
      [
        { atMs: 0, ms: 20 },
        { atMs: 10, ms: 5 },
      ],
      1,
    ).endedMs,
  ).toEqual([25, 20])
})

test('three threads on two processors have two thirds of one each', () => {
  expect(
    runAll(
      [
        { atMs: 0, ms: 10 },
        { atMs: 0, ms: 10 },
        { atMs: 0, ms: 10 },
      ],
      2,
    ).endedMs,
  ).toEqual([15, 15, 15])
})

test('neighbours take their share of the processors', () => {
  expect(runAll([{ atMs: 0, ms: 10 }], 2, { neighbours: 1 }).endedMs).toEqual([10])
  expect(runAll([{ atMs: 0, ms: 10 }], 2, { neighbours: 3 }).endedMs).toEqual([20])
})

test('a crowded machine takes longer for the same work, and is busy for as long', () => {
  const alone = runAll([{ atMs: 0, ms: 10 }], 2, { crowding: 0.5 })
  expect(alone.endedMs).toEqual([10])
  // Four threads on two processors: half of one each, of which they get two thirds.
  const four = runAll(
    Array.from({ length: 4 }, () => ({ atMs: 0, ms: 10 })),
    2,
    { crowding: 0.5 },
  )
  expect(four.endedMs[0]).toBeCloseTo(30, 6)
  expect(four.busy).toBeCloseTo(2, 6)
  expect((four.busy * four.untilMs) / four.workMs).toBeCloseTo(1.5, 6)
  // More threads are not slower together.
  const eight = runAll(
    Array.from({ length: 8 }, () => ({ atMs: 0, ms: 10 })),
    2,
    { crowding: 0.5 },
  )
  expect(eight.endedMs[0]).toBeCloseTo(60, 6)
})
