import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Backpressure } from './backpressure.js'

test('whoever comes and goes, the room holds no more than its bounds, and who waits enters in order', () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 60 })
  fc.assert(
    fc.property(sizes, fc.array(fc.nat(), { maxLength: 200 }), (given, choices) => {
      const room = new Backpressure({ messagesMax: 7, charactersMax: 100 })
      const inside: number[] = []
      const entered: number[] = []
      const taken: number[] = []
      const queue = [...given.entries()]
      const leaveOne = (choice: number) => {
        const [index] = inside.splice(choice % inside.length, 1)
        if (index !== undefined) room.give(1, given[index] ?? 0)
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
          room.take(size, () => {
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

test('what is larger than the room has it alone', () => {
  const room = new Backpressure({ messagesMax: 7, charactersMax: 100 })
  const entered: string[] = []
  room.take(500, () => entered.push('giant'))
  room.take(1, () => entered.push('small'))
  expect(entered).toEqual(['giant'])
  room.give(1, 500)
  expect(entered).toEqual(['giant', 'small'])
})

test('the line for room is bounded, and who leaves it makes way', () => {
  const room = new Backpressure({ messagesMax: 1, charactersMax: 100 })
  const entered: string[] = []
  room.take(60, () => entered.push('first'))
  const leave = room.take(60, () => entered.push('second'))
  expect(() => room.take(1, () => {})).toThrow(expect.objectContaining({ code: 'RATE_LIMITED', retryAfter: 1 }))
  leave()
  room.take(1, () => entered.push('third'))
  room.give(1, 60)
  expect(entered).toEqual(['first', 'third'])
})

test('the line for room is bounded by characters, too', () => {
  const room = new Backpressure({ messagesMax: 7, charactersMax: 100 })
  const entered: string[] = []
  room.take(80, () => entered.push('first'))
  room.take(500, () => entered.push('giant'))
  expect(() => room.take(1, () => {})).toThrow(expect.objectContaining({ code: 'RATE_LIMITED' }))
  room.give(1, 80)
  expect(entered).toEqual(['first', 'giant'])
  room.take(60, () => entered.push('third'))
  room.take(40, () => entered.push('fourth'))
  expect(() => room.take(1, () => {})).toThrow(expect.objectContaining({ code: 'RATE_LIMITED' }))
  room.give(1, 500)
  expect(entered).toEqual(['first', 'giant', 'third', 'fourth'])
})
