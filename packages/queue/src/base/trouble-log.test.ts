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

test('a full server is logged once, although later probes report other figures', async () => {
  let usedBytes = 1_000_000
  let isFull = true
  const { lines, clock, trouble } = troubleOf(async () => {
    usedBytes += 1_000_000
    if (isFull) throw redisFull({ usedBytes, maxBytes: 1 }, new Error('OOM command not allowed'))
  })
  trouble.report(new Error('OOM command not allowed when used memory > maxmemory'), 'fetching a job failed')
  for (let at = 0; at < 5; at++) await clock.advance(bounds.reconnectMsMax)
  expect(lines).toHaveLength(1)
  isFull = false
  await clock.advance(bounds.reconnectMsMax)
  expect(lines.slice(1)).toMatchObject([{ msg: 'the queues work again', suppressed: 5 }])
})

test('another kind of error of the same server gets its own line', async () => {
  const { lines, trouble } = troubleOf(async () => {})
  trouble.report(new Error('OOM command not allowed when used memory > maxmemory'), 'fetching a job failed')
  trouble.report(new Error('MISCONF Redis is configured to save RDB snapshots'), 'fetching a job failed')
  trouble.close()
  expect(lines).toHaveLength(2)
})
