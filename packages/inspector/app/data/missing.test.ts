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

test('pieces of the line with the rarest terms come first, wherever it is', () => {
  const lines = Array.from({ length: 900 }, (_, n) => `The service shop-${n} runs at staging-${n}.internal.`)
  const text = [...lines, 'The database of staging listens on 8432.', ...lines].join('\n')
  const { named } = missingFrom(text, summary, ['database', 'staging'])
  expect(named[0]).toBe('8432')
})

test('the mark of a cut text is no part of a piece', () => {
  expect(missingFrom('…5432 or 5433…', summary)).toEqual({ named: ['5433'], count: 1 })
})
