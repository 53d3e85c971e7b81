import type { HeddleEvent } from '@heddle/contracts'
import { expect, test } from 'vitest'
import { EVENTS_UNDER_LOAD, EventLog } from './event-log.js'
import type { NewEvent } from './events.js'

const tick = () => new Promise((resolve) => setImmediate(resolve))
const built = (subjectId: string): NewEvent => ({ topic: 'context.built', subjectId })
const grown = (threadId: string, headSeq: number): NewEvent => ({ topic: 'message.stored', threadId, headSeq })

/** A log whose time passes by hand. */
function openLog(append: (events: readonly NewEvent[]) => Promise<void> = async () => {}) {
  const batches: [string, readonly NewEvent[]][] = []
  const published: HeddleEvent[] = []
  const warnings: string[] = []
  const timers = new Map<() => void, number>()
  const log = new EventLog({
    async append(projectId, events) {
      batches.push([projectId, events])
      await append(events)
      return events as readonly HeddleEvent[]
    },
    publish: async (event) => void published.push(event),
    restUnderLoadMs: 1_000,
    log: { warn: (_, message) => warnings.push(message) },
    clock: {
      after(ms, callback) {
        timers.set(callback, ms)
        return () => timers.delete(callback)
      },
    },
  })
  return {
    log,
    batches,
    published,
    warnings,
    pauses: () => [...timers.values()],
    async passTime() {
      for (const timer of [...timers.keys()]) if (timers.delete(timer)) timer()
      await tick()
    },
  }
}

test('events of a project within a short time are stored together, then published', async () => {
  const { log, batches, published, passTime } = openLog()
  log.add('one', built('a'))
  log.add('one', built('b'))
  log.add('two', built('c'))
  await tick()
  expect(batches).toEqual([])
  await passTime()
  expect(batches).toEqual([
    ['one', [built('a'), built('b')]],
    ['two', [built('c')]],
  ])
  expect(published).toEqual([built('a'), built('b'), built('c')])
})

test('of several heads of a thread only the last is stored', async () => {
  const { log, batches } = openLog()
  for (const event of [grown('a', 1), grown('a', 4), grown('b', 1), grown('a', 3)]) log.add('one', event)
  await log.close()
  expect(batches).toEqual([['one', [grown('a', 4), grown('b', 1)]]])
})

test('after a batch of many events the next batch of the project waits longer', async () => {
  const { log, pauses, passTime } = openLog()
  log.add('one', built('first'))
  expect(pauses()).toEqual([20])
  await passTime()
  expect(pauses()).toEqual([20])
  for (let index = 0; index < EVENTS_UNDER_LOAD; index++) log.add('one', built(`${index}`))
  await passTime()
  expect(pauses()).toEqual([1_000])
})

test('also for as many threads as fill a batch, so that only the last heads of those that go on growing are stored', async () => {
  const { log, batches, pauses, passTime } = openLog()
  const grow = (headSeq: number) => {
    for (let thread = 0; thread < 2_500; thread++) log.add('one', grown(`${thread}`, headSeq))
  }
  for (let index = 0; index < EVENTS_UNDER_LOAD; index++) log.add('one', built(`${index}`))
  await passTime()
  grow(1)
  await tick()
  grow(2)
  await tick()
  expect([batches.length, pauses()]).toEqual([1, [1_000]])
  await passTime()
  await log.close()
  expect(batches.slice(1).map(([, events]) => events.length)).toEqual([1_000, 1_000, 500])
  expect(batches.slice(1).every(([, events]) => events.every(({ headSeq }) => headSeq === 2))).toBe(true)
})

test('a batch that cannot be stored is logged and does not block later ones', async () => {
  const { log, published, warnings, passTime } = openLog(async ([first]) => {
    if (first?.subjectId === 'lost') throw new Error('away')
  })
  log.add('one', built('lost'))
  await passTime()
  log.add('one', built('a'))
  await passTime()
  expect([warnings, published]).toEqual([['storing or publishing events failed'], [built('a')]])
})

test('close stores waiting events, and drops those that an unreachable store does not accept in time', async () => {
  const { log, batches, warnings, passTime } = openLog(() => new Promise(() => {}))
  log.add('one', built('a'))
  const closing = log.close()
  await tick()
  await passTime()
  await closing
  expect([batches.length, warnings]).toEqual([1, ['the last events were not stored in time']])
})
