import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Backpressure } from './backpressure.js'

test('no more than the limits is pending, and waiting callers are admitted in order', () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 60 })
  fc.assert(
    fc.property(sizes, fc.array(fc.nat(), { maxLength: 200 }), (given, choices) => {
      const backpressure = new Backpressure({ messagesMax: 7, charactersMax: 100 })
      const inside: number[] = []
      const entered: number[] = []
      const taken: number[] = []
      const queue = [...given.entries()]
      const leaveOne = (choice: number) => {
        const [index] = inside.splice(choice % inside.length, 1)
        if (index !== undefined) backpressure.release(1, given[index] ?? 0)
      }
      const check = () => {
        const characters = inside.reduce((sum, index) => sum + (given[index] ?? 0), 0)
        expect(inside.length).toBeLessThanOrEqual(7)
        if (inside.length > 1) expect(characters).toBeLessThanOrEqual(100)
      }
      const fitsInLine = (size: number) => {
        const waiting = taken.slice(entered.length).map((index) => given[index] ?? 0)
        return waiting.length === 0 || (waiting.length < 7 && waiting.reduce((sum, each) => sum + each, size) <= 100)
      }
      for (const choice of choices) {
        const next = choice % 3 === 0 ? undefined : queue.shift()
        if (next !== undefined && fitsInLine(next[1])) {
          const [index, size] = next
          taken.push(index)
          backpressure.acquire(size, () => {
            inside.push(index)
            entered.push(index)
          })
        } else if (inside.length > 0) leaveOne(choice)
        check()
      }
      while (inside.length > 0) {
        leaveOne(0)
        check()
      }
      expect(entered).toEqual(taken)
    }),
  )
})

test('a message above the limit is admitted alone', () => {
  const backpressure = new Backpressure({ messagesMax: 7, charactersMax: 100 })
  const entered: string[] = []
  backpressure.acquire(500, () => entered.push('giant'))
  backpressure.acquire(1, () => entered.push('small'))
  expect(entered).toEqual(['giant'])
  backpressure.release(1, 500)
  expect(entered).toEqual(['giant', 'small'])
})

test('the number of waiting callers is limited, and one that stops waiting makes room', () => {
  const backpressure = new Backpressure({ messagesMax: 1, charactersMax: 100 })
  const entered: string[] = []
  backpressure.acquire(60, () => entered.push('first'))
  const leave = backpressure.acquire(60, () => entered.push('second'))
  expect(() => backpressure.acquire(1, () => {})).toThrow(
    expect.objectContaining({ code: 'RATE_LIMITED', retryAfter: 1 }),
  )
  leave()
  backpressure.acquire(1, () => entered.push('third'))
  backpressure.release(1, 60)
  expect(entered).toEqual(['first', 'third'])
})

test('waiting callers are limited by characters, too', () => {
  const backpressure = new Backpressure({ messagesMax: 7, charactersMax: 100 })
  const entered: string[] = []
  backpressure.acquire(80, () => entered.push('first'))
  backpressure.acquire(500, () => entered.push('giant'))
  expect(() => backpressure.acquire(1, () => {})).toThrow(expect.objectContaining({ code: 'RATE_LIMITED' }))
  backpressure.release(1, 80)
  expect(entered).toEqual(['first', 'giant'])
  backpressure.acquire(60, () => entered.push('third'))
  backpressure.acquire(40, () => entered.push('fourth'))
  expect(() => backpressure.acquire(1, () => {})).toThrow(expect.objectContaining({ code: 'RATE_LIMITED' }))
  backpressure.release(1, 500)
  expect(entered).toEqual(['first', 'giant', 'third', 'fourth'])
})
