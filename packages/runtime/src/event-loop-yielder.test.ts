import { expect, test } from 'vitest'
import { EventLoopYielder, runCooperatively } from './event-loop-yielder.js'

/** Pieces of work that each take some time, told in which turn of the event loop each began. */
async function begin(count: number, workMs: number): Promise<{ order: number[]; turnsOf: number[] }> {
  let nowMs = 0
  let turn = 0
  const turns = new EventLoopYielder(() => nowMs)
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

test('little work begins in the turn in which it came', async () => {
  const { turnsOf } = await begin(100, 0.01)
  expect(new Set(turnsOf).size).toBe(1)
})

test('much work is spread over turns, some of it in each, in the order in which it came', async () => {
  const { order, turnsOf } = await begin(20, 1)
  expect(order).toEqual(Array.from({ length: 20 }, (_, index) => index))
  expect(new Set(turnsOf).size).toBe(5)
})

test('work that alone fills a turn has one each', async () => {
  const { turnsOf } = await begin(3, 50)
  expect(new Set(turnsOf).size).toBe(3)
})

test('a computation that pauses is carried out to its end, and others have their turn meanwhile', async () => {
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
