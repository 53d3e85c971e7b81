import { expect, test } from 'vitest'
import { resumeText, warmUpResumeText } from '../index.js'
import { sampleSession } from './sample-session.js'

test('the sample has every part that a text of a real session has, so that all of its code is compiled', () => {
  const text = resumeText(sampleSession(3))
  const headings = [...text.matchAll(/^## (.*)$/gm)].map(([, heading]) => heading)
  expect(headings).toEqual(
    expect.arrayContaining([
      'Standing constraints',
      'Last requests, word for word, oldest first',
      'Next steps',
      'Files, last used first',
      'Longest outputs of commands and searches',
      'Decisions',
      'Current state',
      'Commands and results',
      'Errors and their resolution',
      'Open questions',
      'Identifiers',
    ]),
  )
  expect(text).toContain('In progress: Add a test for empty input')
  expect(text).toContain('token-parser-2.ts: edited once')
})

test('the steps of a warm-up are short, and let other work run in between', () => {
  const steps = warmUpResumeText()
  let count = 0
  while (steps.next().done !== true) count++
  // More than one for each message of the sample.
  expect(count).toBeGreaterThan(1_000)
})
