import { createLogger } from '@heddle/runtime'
import { expect, test } from 'vitest'
import { ManualClock } from '../../../../test/support/src/manual-clock.js'
import { bounds } from './bounds.js'
import { redisFull } from './errors.js'
import { createTroubleLog } from './trouble-log.js'

function troubleOf(probe: () => Promise<unknown>) {
  const lines: { msg: string; suppressed?: number }[] = []
  const log = createLogger({
    level: 'info',
    name: 'test',
    destination: { write: (line) => lines.push(JSON.parse(line)) },
  })
  const clock = new ManualClock()
  return { lines, clock, trouble: createTroubleLog({ log, clock, server: 'Redis', probe }) }
}

test('a server that is full is one line, however much it holds when it is asked again', async () => {
  let usedBytes = 1_000_000
  let isFull = true
  const { lines, clock, trouble } = troubleOf(async () => {
    usedBytes += 1_000_000
    if (isFull) throw redisFull({ usedBytes, maxBytes: 1 }, new Error('OOM command not allowed'))
  })
  trouble.report(new Error('OOM command not allowed when used memory > maxmemory'), 'a job was not taken')
  for (let at = 0; at < 5; at++) await clock.advance(bounds.reconnectMsMax)
  expect(lines).toHaveLength(1)
  isFull = false
  await clock.advance(bounds.reconnectMsMax)
  expect(lines.slice(1)).toMatchObject([{ msg: 'the queues work again', suppressed: 5 }])
})

test('another trouble of the same server is a line of its own', async () => {
  const { lines, trouble } = troubleOf(async () => {})
  trouble.report(new Error('OOM command not allowed when used memory > maxmemory'), 'a job was not taken')
  trouble.report(new Error('MISCONF Redis is configured to save RDB snapshots'), 'a job was not taken')
  trouble.close()
  expect(lines).toHaveLength(2)
})
