import { expect, test } from 'vitest'
import { formatSource, summaryPrompt } from './prompts.js'

const promptOf = (tokensMax: number) =>
  summaryPrompt({ purpose: 'progress', conversation: '## Iteration 1', previousSummary: null, tokensMax })

test('the prompt for progress says what to leave out', () => {
  const { user } = promptOf(2_000)
  expect(user).toContain('4. Is concise (max 500 words)')
  expect(user).toContain(
    'Leave out:\n- Verbose output logs\n- Temporary debugging info\n- Repeated error messages\n- Implementation details already in code',
  )
})

test.each([
  [2_000, 500],
  [100_000, 500],
  [300, 165],
])('the prompt for progress in at most %d tokens says one length: %d words', (tokensMax, words) => {
  const { system, user } = promptOf(tokensMax)
  expect(`${system}\n${user}`.match(/\d+ words/g)).toEqual([`${words} words`])
})

test('a text with a heading of its own is not introduced by a role', () => {
  const source = {
    role: 'assistant',
    reference: '',
    toolName: null,
    isError: false,
    pinned: false,
    orderedAtMs: 0,
  } as const
  expect(formatSource({ ...source, text: '## Iteration 1', hasHeading: true })).toBe('## Iteration 1')
  expect(formatSource({ ...source, text: 'Done.' })).toBe('assistant:\nDone.')
})
