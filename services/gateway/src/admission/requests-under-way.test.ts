import { EventEmitter } from 'node:events'
import { expect, test } from 'vitest'
import { ManualClock } from '../../../../test/support/src/manual-clock.js'
import { type NewRequest, RequestsUnderWay } from './requests-under-way.js'

const of = (project: string, bytes: number): NewRequest => ({ project, bytes, bodyBytes: 0 })

const refused = expect.objectContaining({ code: 'RATE_LIMITED', retryAfter: 1, disposition: 'retry' })

test('each project is admitted up to its own limit', () => {
  const requests = new RequestsUnderWay({ requestsMax: 2, bytesMax: 100 })
  const [first, second] = [new EventEmitter(), new EventEmitter()]
  requests.enter(of('noisy', 10), first as never)
  requests.enter(of('noisy', 10), second as never)
  expect(() => requests.enter(of('noisy', 0), new EventEmitter() as never)).toThrow(refused)
  requests.enter(of('quiet', 100), new EventEmitter() as never)
  first.emit('close')
  expect(() => requests.enter(of('noisy', 91), new EventEmitter() as never)).toThrow(refused)
  requests.enter(of('noisy', 90), first as never)
  first.emit('close')
  second.emit('close')
  expect(requests.size).toBe(1)
})

test('a project without running requests may exceed the limit, because a larger request could never be admitted otherwise', () => {
  const requests = new RequestsUnderWay({ requestsMax: 2, bytesMax: 100 })
  requests.enter(of('large', 1_000), new EventEmitter() as never)
  expect(() => requests.enter(of('large', 1), new EventEmitter() as never)).toThrow(refused)
})

test('a project alone on the process gets more, until another one sends requests and for a while after', async () => {
  const clock = new ManualClock()
  const requests = new RequestsUnderWay({ requestsMax: 2, requestsAloneMax: 4, bytesMax: 100 }, clock)
  const open: EventEmitter[] = []
  const take = (project: string) => {
    const response = new EventEmitter()
    requests.enter(of(project, 0), response as never)
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

test('the bodies of all projects share one limit, which includes requests without a project', () => {
  const requests = new RequestsUnderWay()
  const [first, second] = [new EventEmitter(), new EventEmitter()]
  requests.enter({ project: 'one', bytes: 0, bodyBytes: 400 * 1024 * 1024 }, first as never)
  requests.enter({ bytes: 0, bodyBytes: 112 * 1024 * 1024 }, second as never)
  expect(() => requests.enter({ project: 'two', bytes: 0, bodyBytes: 1 }, new EventEmitter() as never)).toThrow(refused)
  expect(requests.size).toBe(1)
  first.emit('close')
  requests.enter({ project: 'two', bytes: 0, bodyBytes: 1 }, new EventEmitter() as never)
})

test('requests admitted for a stage count until they are answered, whatever else the project is running', () => {
  const requests = new RequestsUnderWay()
  const responses = [new EventEmitter(), new EventEmitter()]
  for (const response of responses) requests.enter({ ...of('one', 10), stage: 'ingest' }, response as never)
  requests.enter(of('one', 5), new EventEmitter() as never)
  expect(requests.ofStage('one', 'ingest')).toEqual({ jobs: 2, bytes: 20 })
  expect(requests.ofStage('one', 'assemble')).toEqual({ jobs: 0, bytes: 0 })
  for (const response of responses) response.emit('close')
  expect(requests.ofStage('one', 'ingest')).toEqual({ jobs: 0, bytes: 0 })
})
