import { EventEmitter } from 'node:events'
import { expect, test } from 'vitest'
import { ManualClock } from '../../../../test/support/src/manual-clock.js'
import { ProjectRoom } from './project-room.js'

const refused = expect.objectContaining({ code: 'RATE_LIMITED', retryAfter: 1, disposition: 'retry' })

test('a project gets as much as it may have under way, and another one its own', () => {
  const room = new ProjectRoom({ requestsMax: 2, bytesMax: 100 })
  const [first, second] = [new EventEmitter(), new EventEmitter()]
  room.take('noisy', 10, first as never)
  room.take('noisy', 10, second as never)
  expect(() => room.take('noisy', 0, new EventEmitter() as never)).toThrow(refused)
  room.take('quiet', 100, new EventEmitter() as never)
  first.emit('close')
  expect(() => room.take('noisy', 91, new EventEmitter() as never)).toThrow(refused)
  room.take('noisy', 90, first as never)
  first.emit('close')
  second.emit('close')
  expect(room.size).toBe(1)
})

test('who has nothing under way may send what is larger than the bound: it would never get in', () => {
  const room = new ProjectRoom({ requestsMax: 2, bytesMax: 100 })
  room.take('large', 1_000, new EventEmitter() as never)
  expect(() => room.take('large', 1, new EventEmitter() as never)).toThrow(refused)
})

test('who is alone gets more, until somebody else asks and for a while after that', async () => {
  const clock = new ManualClock()
  const room = new ProjectRoom({ requestsMax: 2, requestsAloneMax: 4, bytesMax: 100 }, clock)
  const open: EventEmitter[] = []
  const take = (project: string) => {
    const response = new EventEmitter()
    room.take(project, 0, response as never)
    open.push(response)
    return response
  }
  for (let asked = 0; asked < 4; asked++) take('crowd')
  expect(() => take('crowd')).toThrow(refused)
  const guest = take('guest')
  open[0]?.emit('close')
  expect(() => take('crowd')).toThrow(refused)
  guest.emit('close')
  await clock.advance(4_999)
  expect(() => take('crowd')).toThrow(refused)
  await clock.advance(1)
  take('crowd')
})
