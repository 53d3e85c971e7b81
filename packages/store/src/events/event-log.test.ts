import { expect, it } from 'vitest'
import { CLOSE_MS, EventLog, GATHER_MS } from './event-log.js'
import type { NewEvent } from './events.js'

const event = (subjectId: string): NewEvent => ({ topic: 'context.built', subjectId })

/** A log whose time passes by hand, and whose batches end by hand. */
function openLog() {
  const batches: string[] = []
  const ends: (() => void)[] = []
  const timers = new Set<() => void>()
  const append = async (projectId: string, events: readonly NewEvent[]) => {
    batches.push(`${projectId}: ${events.map(({ subjectId }) => subjectId).join(' ')}`)
    await new Promise<void>((resolve) => ends.push(resolve))
    return []
  }
  const log = new EventLog({
    append,
    publish: async () => {},
    log: { warn: () => {} },
    clock: {
      after(ms, callback) {
        expect([GATHER_MS, CLOSE_MS]).toContain(ms)
        timers.add(callback)
        return () => timers.delete(callback)
      },
    },
  })
  return {
    log,
    batches,
    passTime() {
      for (const timer of [...timers]) if (timers.delete(timer)) timer()
    },
    async endBatches() {
      for (let end = ends.shift(); end !== undefined; end = ends.shift()) {
        end()
        await new Promise((resolve) => setImmediate(resolve))
      }
    },
  }
}

it('stores what comes together in one batch, and what comes meanwhile in one after it, project by project', async () => {
  const { log, batches, passTime, endBatches } = openLog()
  log.add('one', event('a'))
  log.add('one', event('b'))
  log.add('two', event('c'))
  expect(batches).toEqual([])
  passTime()
  expect(batches).toEqual(['one: a b', 'two: c'])
  log.add('one', event('d'))
  log.add('one', event('e'))
  await endBatches()
  expect(batches).toEqual(['one: a b', 'two: c', 'one: d e'])
  log.add('one', event('f'))
  passTime()
  expect(batches.at(-1)).toBe('one: f')
})

it('stores what still gathers when it closes, and waits until that is done', async () => {
  const { log, batches, passTime, endBatches } = openLog()
  log.add('one', event('a'))
  let isClosed = false
  const closing = log.close().then(() => {
    isClosed = true
  })
  expect(batches).toEqual(['one: a'])
  await new Promise((resolve) => setImmediate(resolve))
  expect(isClosed).toBe(false)
  await endBatches()
  await closing
  passTime()
  expect(batches).toEqual(['one: a'])
})

it('leaves behind what a store that is away does not take within the bound', async () => {
  const { log, batches, passTime } = openLog()
  log.add('one', event('a'))
  const closing = log.close()
  passTime()
  await closing
  expect(batches).toEqual(['one: a'])
})
