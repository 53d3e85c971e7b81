import { expect, test } from 'vitest'
import { missingFrom } from './missing.js'

const summary = 'The tests are in packages/core/src/pruning. The port is 5432; getName was renamed.'

test('figures, paths and names of code that a summary does not have', () => {
  const text =
    'The port is 5433, not 5432. See packages/core/src/pruning and /etc/hosts; getName became readName. Go on.'
  expect(missingFrom(text, summary)).toEqual({ named: ['5433', 'etc/hosts', 'readName'], count: 3 })
})

test('plain words are not compared, and each piece is named once', () => {
  expect(missingFrom('Go on with it, please. 12:30 and 12:30.', summary)).toEqual({ named: ['12:30'], count: 1 })
  expect(missingFrom('Go on with it. And more.', summary)).toEqual({ named: [], count: 0 })
})

test('a long text of one line takes no time', () => {
  expect(missingFrom('a.'.repeat(2_000_000), summary).count).toBe(0)
  expect(missingFrom('aB'.repeat(2_000_000), summary).count).toBe(0)
})
