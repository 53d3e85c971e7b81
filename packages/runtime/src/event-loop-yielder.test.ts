import { expect, test } from 'vitest'
import { EventLoopYielder, runCooperatively } from './event-loop-yielder.js'

/** Work items of some duration, with the iteration of the event loop in which each began. */
async function begin(count: number, workMs: number, turnMs?: number): Promise<{ order: number[]; turnsOf: number[] }> {
  let nowMs = 0
  let turn = 0
  const turns = new EventLoopYielder(() => nowMs, turnMs)
  const order: number[] = []
  const turnsOf: number[] = []
  let isOver = false
  const tick = () => {
    turn++
    if (!isOver) setImmediate(tick)
  }
  setImmediate(tick)
  await Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const next = turns.next()
      if (next !== null) await next
      order.push(index)
      turnsOf.push(turn)
      nowMs += workMs
    }),
  )
  isOver = true
  return { order, turnsOf }
}

test('a little work begins in the iteration of the event loop in which it was added', async () => {
  const { turnsOf } = await begin(100, 0.01)
  expect(new Set(turnsOf).size).toBe(1)
})

test('much work is spread over iterations, a part of it in each, in order', async () => {
  const { order, turnsOf } = await begin(20, 1)
  expect(order).toEqual(Array.from({ length: 20 }, (_, index) => index))
  expect(new Set(turnsOf).size).toBe(5)
})

test('more work is in each iteration where longer ones are allowed', async () => {
  const { turnsOf } = await begin(20, 1, 10)
  expect(new Set(turnsOf).size).toBe(2)
})

test('work that fills an iteration gets one of its own', async () => {
  const { turnsOf } = await begin(3, 50)
  expect(new Set(turnsOf).size).toBe(3)
})

test('a computation that yields runs to its end, and other work runs meanwhile', async () => {
  let others = 0
  const other = () => {
    others++
    if (others < 3) setImmediate(other)
  }
  setImmediate(other)
  function* steps(): Generator<undefined, string> {
    while (others < 3) yield
    return 'done'
  }
  expect(await runCooperatively(steps())).toBe('done')
})

test('several computations have together, in one iteration of the event loop, the time of one', async () => {
  const STEP_MS = 0.5
  let iteration = 0
  let isOver = false
  const tick = () => {
    iteration++
    if (!isOver) setImmediate(tick)
  }
  setImmediate(tick)
  const stepsIn = new Map<number, number>()
  function* steps(): Generator<undefined, void> {
    for (let step = 0; step < 20; step++) {
      const endsAtMs = performance.now() + STEP_MS
      while (performance.now() < endsAtMs);
      stepsIn.set(iteration, (stepsIn.get(iteration) ?? 0) + 1)
      yield
    }
  }
  await Promise.all(Array.from({ length: 6 }, () => runCooperatively(steps())))
  isOver = true
  // The first one has a step of each, which they begin with.
  expect(Math.max(...[...stepsIn.entries()].filter(([at]) => at > 0).map(([, count]) => count))).toBeLessThanOrEqual(3)
})
