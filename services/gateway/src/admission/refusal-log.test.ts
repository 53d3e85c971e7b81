import { Writable } from 'node:stream'
import { createLogger } from '@heddle/runtime'
import { expect, test } from 'vitest'
import { ManualClock } from '../../../../test/support/src/manual-clock.js'
import { type RefusalFacts, RefusalLog } from './refusal-log.js'

const facts = { requestId: 'r1', method: 'GET', route: '/v1/agents', code: 'UNAUTHORIZED', address: '127.0.0.1' }

function open() {
  const lines: Record<string, unknown>[] = []
  const destination = new Writable({
    write(line, _encoding, next) {
      lines.push(JSON.parse(String(line)))
      next()
    },
  })
  const clock = new ManualClock()
  const refusals = new RefusalLog(createLogger({ level: 'info', name: 'test', destination }), clock)
  const write = (changes: Partial<RefusalFacts> = {}) => refusals.write({ ...facts, status: 401, ...changes })
  return { lines, clock, write }
}

test('refusals of a key, of its role and of load are logged at info, others are not', () => {
  const { lines, write } = open()
  for (const status of [400, 401, 403, 404, 409, 429, 503]) write({ status })
  expect(lines.map(({ level, status, msg }) => [level, status, msg])).toEqual(
    [401, 403, 429].map((status) => [30, status, 'request refused']),
  )
})

test('a caller that keeps sending is logged every ten seconds, with the number of refusals in between', async () => {
  const { lines, clock, write } = open()
  for (let round = 0; round < 5; round++) write()
  write({ address: '10.0.0.7' })
  await clock.advance(10_000)
  write()
  expect(lines.map(({ address, leftOut }) => [address, leftOut])).toEqual([
    ['127.0.0.1', undefined],
    ['10.0.0.7', undefined],
    ['127.0.0.1', 4],
  ])
})
