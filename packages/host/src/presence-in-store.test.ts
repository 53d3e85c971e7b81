import { stageNames } from '@heddle/contracts'
import { expect, test } from 'vitest'
import { applicationNameOf, stagesServedBy } from './presence-in-store.js'

test('the name of a connection holds the stages that its process serves', () => {
  const name = applicationNameOf({ queuePrefix: 'heddle', pid: 4_711, stages: ['prune', 'assemble'] })
  expect(name).toBe('heddle/heddle/4711/pa')
  expect(stagesServedBy(name)).toEqual(['prune', 'assemble'])
  expect(stagesServedBy(applicationNameOf({ queuePrefix: 'heddle', pid: 4_711, stages: [] }))).toEqual([])
  expect(stagesServedBy('heddle migrate')).toEqual([])
})

test('the longest name fits into the characters that Postgres keeps', () => {
  const name = applicationNameOf({ queuePrefix: 'p'.repeat(40), pid: 9_999_999, stages: stageNames })
  expect(name.length).toBeLessThanOrEqual(63)
})
