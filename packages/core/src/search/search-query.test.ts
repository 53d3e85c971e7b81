import { expect, test } from 'vitest'
import { searchQuery } from './search-query.js'

const NOW = Date.parse('2023-05-10T12:00:00Z')

test('words that say how to answer do not count beside those of the subject', () => {
  expect(searchQuery('Can you list the order in which I mentioned the loom?', null).terms).toEqual(['loom'])
  expect(searchQuery('a summary', null).terms).toEqual(['summari'])
})

test('joined words and initials are other spellings', () => {
  const { others } = searchQuery('log in with role based access control', null)
  expect(others).toContain('login')
  expect(others).toContain('rbac')
})

test('dates are searched however they are spelled', () => {
  expect(searchQuery('what broke on May 7?', NOW).others).toContain('=on 2023-05-07')
  expect(searchQuery('what broke last Sunday?', NOW).others).toContain('=on 2023-05-07')
  expect(searchQuery('what broke on May 7?', null).others).toContain('=on 05-07')
})

test('questions about time are known', () => {
  const asks = (text: string) => searchQuery(text, null).asksForTime
  expect(['When did it break?', 'how many days are left', 'What day is it'].map(asks)).toEqual([true, true, true])
  expect(['Which loom broke?', 'How many looms broke?'].map(asks)).toEqual([false, false])
})
