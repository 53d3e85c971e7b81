import { expect, test } from 'vitest'
import { EventLoopYielder } from './event-loop-yielder.js'

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
