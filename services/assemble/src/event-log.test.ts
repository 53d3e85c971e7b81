import type { NewEvent } from '@heddle/store'
import { expect, it } from 'vitest'
import { EventLog } from './event-log.js'

const event = (subjectId: string): NewEvent => ({ topic: 'context.built', subjectId })

it('stores what comes while a batch is stored in one batch after it, project by project', async () => {
  const batches: string[] = []
  const ends: (() => void)[] = []
  const log = new EventLog(async (projectId, events) => {
    batches.push(`${projectId}: ${events.map(({ subjectId }) => subjectId).join(' ')}`)
    await new Promise<void>((resolve) => ends.push(resolve))
  })
  log.add('one', event('a'))
  log.add('one', event('b'))
  log.add('two', event('c'))
  log.add('one', event('d'))
  expect(batches).toEqual(['one: a', 'two: c'])
  for (let end = ends.shift(); end !== undefined; end = ends.shift()) {
    end()
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect(batches).toEqual(['one: a', 'two: c', 'one: b d'])
  log.add('one', event('e'))
  expect(batches.at(-1)).toBe('one: e')
})
