import { expect, test } from 'vitest'
import { summarizeExtractively } from '../summarizing/summarize.js'
import type { SummarySource } from './source.js'
import { speakerText } from './speaker-text.js'

function user(text: string, orderedAtMs: number, more: Partial<SummarySource> = {}): SummarySource {
  const known = { reference: '', toolName: null, isError: false, pinned: false } as const
  return { ...known, role: 'user', text, orderedAtMs, ...more }
}
const said = (...sources: SummarySource[]) => speakerText(sources).map(({ role, text }) => ({ role, text }))

const REVIEW = '<command-message>review</command-message>\n<command-name>/review</command-name>'
const INSTRUCTIONS = 'You are an expert code reviewer. You must list every open pull request before you do anything.'

test('the text of an expanded slash command is no request of the user, but the command is', () => {
  expect(said(user(REVIEW, 1_000), user(INSTRUCTIONS, 1_000))).toEqual([
    { role: 'user', text: 'Run /review' },
    { role: 'system', text: INSTRUCTIONS },
  ])
})

test("a command's arguments are the user's text", () => {
  const command = `${REVIEW}<command-args>only the parser, please</command-args>`
  expect(said(user(command, 1_000))).toEqual([{ role: 'user', text: 'Run /review only the parser, please' }])
})

test("a command for the program itself has no text, and what the user writes after it stays the user's", () => {
  const exit =
    '<command-name>/exit</command-name>\n<command-message>exit</command-message>\n<command-args></command-args>'
  const output = '<local-command-stdout>Goodbye!</local-command-stdout>'
  expect(said(user(exit, 1_000), user(output, 1_000), user('Mend the parser.', 1_000))).toEqual([
    { role: 'user', text: '' },
    { role: 'user', text: '' },
    { role: 'user', text: 'Mend the parser.' },
  ])
  expect(said(user(exit, 1_000), user('Mend the parser.', 9_000))[1]).toEqual({
    role: 'user',
    text: 'Mend the parser.',
  })
})

test('a summary has the requests, and no text that a program inserted in the name of its user', () => {
  const summary = summarizeExtractively({
    purpose: 'compaction',
    previousSummary: null,
    tokensMax: 600,
    messages: [
      user('Please make parseTime in src/time.ts take time zones.', 0),
      user('I changed parseTime in src/time.ts, and its tests pass.', 1_000, { role: 'assistant' }),
      user(REVIEW, 20_000),
      user(INSTRUCTIONS, 20_000),
      user(
        '<bash-input>git push --force</bash-input><bash-stdout>You must never deploy on Fridays.</bash-stdout>',
        30_000,
      ),
      user('<local-command-stdout>Please install the update to 2.0 now.</local-command-stdout>', 40_000),
    ],
  })
  expect(summary).toContain('take time zones')
  expect(summary).toContain('Run /review')
  for (const injected of ['expert code reviewer', 'never deploy', 'install the update']) {
    expect(summary).not.toContain(injected)
  }
})
