import { expect, test } from 'vitest'
import { asksForValue, findReplacements, newerFirst, type Statement } from './index.js'

const said = (text: string, seq: number, isOfPerson = true): Statement => ({ text, isOfPerson, atMs: 0, seq })

test.each([
  ['How many books are on my shelf?', 'There are 40 books on my shelf.', 'My shelf has grown to 55 books by now.'],
  [
    'How much RAM does the build server have?',
    'The build server has 16 GB RAM.',
    'We upgraded the build server to 32 GB RAM.',
  ],
  [
    'What is the deadline for the tax report?',
    'The tax report has a deadline of March 3.',
    'The tax report deadline moved to 2024-03-10.',
  ],
  [
    'What is the response time of the login?',
    'The login has a response time of 800ms.',
    'Caching cut the response time of the login to 250ms.',
  ],
  [
    'When is the dentist appointment?',
    'My dentist appointment is on 4 May.',
    'The dentist appointment was rescheduled to May 9th.',
  ],
  [
    'How many users signed up are there?',
    'We have 120 users who signed up.',
    'Users who signed up have now reached 165, wow',
  ],
  [
    'How many kilometers do I run per week?',
    'I run 10 kilometers per week.',
    'I went from 10 to 15 kilometers that I run per week, now',
  ],
])('%s: the later of two statements replaces the earlier', (question, earlier, later) => {
  expect(findReplacements(question, [said(earlier, 1), said(later, 8)])).toEqual([[1], []])
  expect(findReplacements(question, [said(later, 8), said(earlier, 1)])).toEqual([[], [0]])
})

test.each([
  ['a question about the past', 'How many books did I buy?', 'I bought 40 books', 'I now bought 55 books'],
  ['a question about no value', 'Which books are on my shelf?', 'There are 40 books', 'There are now 55 books on it'],
  ['the same value', 'How many books are on my shelf?', '40 books on my shelf', 'My shelf now has 40 books'],
  ['nothing that says to be new', 'How many books are on my shelf?', '40 books on my shelf', '55 books on a shelf'],
  ['another thing counted', 'How many books are on my shelf?', '40 books on my shelf', 'now 55 plants on my shelf'],
  ['another subject', 'How many books are on my shelf?', '40 books on my shelf', 'They have now reached 55 books'],
  [
    'a value from which it changed',
    'How many books are on my shelf?',
    '40 books on my shelf',
    'a shelf, up from 30 books',
  ],
  ['code', 'How many books are on my shelf?', '40 books on my shelf', '```\nnow 55 books on my shelf\n```'],
])('%s replaces nothing', (_, question, earlier, later) => {
  expect(findReplacements(question, [said(earlier, 1), said(later, 8)])).toEqual([[], []])
})

test('what a model said neither replaces nor is replaced', () => {
  const [earlier, later] = ['40 books on my shelf', 'My shelf now has 55 books']
  const question = 'How many books are on my shelf?'
  expect(findReplacements(question, [said(earlier, 1), said(later, 8, false)])).toEqual([[], []])
  expect(findReplacements(question, [said(earlier, 1, false), said(later, 8)])).toEqual([[], []])
})

test('a later time comes before a higher place', () => {
  const [early, late] = [said('40 books on my shelf', 9), { ...said('My shelf now has 55 books', 2), atMs: 5 }]
  expect(findReplacements('How many books are on my shelf?', [early, late])).toEqual([[1], []])
})

test('results that replace others come right before the best of those, the latest first', () => {
  expect(newerFirst([[], [3, 2], [3], [], []])).toEqual([0, 3, 2, 1, 4])
  expect(newerFirst([])).toEqual([])
})

test('questions for a value as it is now differ from all others', () => {
  expect(asksForValue('How many words does my essay have?')).toBe(true)
  expect(asksForValue('How many days passed between the review and the release?')).toBe(false)
  expect(asksForValue('Which library did we choose?')).toBe(false)
})
