import { expect, test } from 'vitest'
import { lastingInstructions } from './index.js'

test.each([
  'Always answer in German.',
  'When you write SQL, always use lower-case keywords.',
  'Please never commit without running the tests.',
  'From now on use pnpm.',
  'In future, write the tests first.',
  'You must never touch the lock file.',
  'Make sure to always run the linter.',
  "Don't ever push to main.",
  'Whenever you create a file, add a header.',
  "Please don't use emojis.",
  'Please use tabs in all your code.',
  'I prefer short answers, can you fix this?',
  "I don't like it when you rewrite my comments.",
])('%s is a lasting instruction', (text) => {
  expect(lastingInstructions(text)).toEqual([text])
})

test.each([
  "I've never been to France.",
  'We always look forward to our trip.',
  'They always make us smile.',
  'Always here for you!',
  'Never give up.',
  "I'd prefer the cheapest flight.",
  'Please use my credit card for this booking.',
  'Should I always use tabs?',
  'Keep going forward with it.',
  '```\nalways use tabs\n```',
])('%s is not', (text) => {
  expect(lastingInstructions(text)).toEqual([])
})

test('only the sentences with an instruction are returned', () => {
  expect(lastingInstructions('Fix the bug.\nAlways run the tests first. Thanks!')).toEqual([
    'Always run the tests first.',
  ])
})
