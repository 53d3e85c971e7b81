import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { SummaryRequest, SummarySource } from '../speech/source.js'
import { summarizeExtractively } from '../summarizing/summarize.js'
import { countTokens } from '../tokens/tokens.js'

function source(role: SummarySource['role'], text: string, more: Partial<SummarySource> = {}): SummarySource {
  return { reference: '', role, text, toolName: null, isError: false, pinned: false, orderedAtMs: 0, ...more }
}

function summarize(messages: readonly SummarySource[], more: Partial<SummaryRequest> = {}): string {
  return summarizeExtractively({ purpose: 'compaction', messages, previousSummary: null, tokensMax: 2_000, ...more })
}

const called = (name: string, args: object, text = '') =>
  source('assistant', `${text}\n[called ${name} ${JSON.stringify(args)}]`.trim(), { toolName: name })
const result = (name: string, text: string, isError = false) => source('tool_result', text, { toolName: name, isError })

const session: SummarySource[] = [
  source('user', 'Please make the parser accept tabs. It must stay compatible with version 2.3.', {
    reference: 'msg-aaaa0001',
  }),
  source('assistant', 'Let me look at the parser first.\n[called Read {"file_path":"src/parser.ts"}]', {
    toolName: 'Read',
  }),
  result('Read', '1\texport function parse() {}'),
  source('assistant', 'I will keep `splitLine` and add a `tabWidth` option instead of a second parser.', {
    reference: 'msg-aaaa0004',
  }),
  called('Edit', {
    file_path: 'src/parser.ts',
    old_string: 'const tabs = "secret"',
    new_string: 'export function parseTabs() {}',
  }),
  result('Edit', 'The file src/parser.ts has been updated.'),
  called('Bash', { command: 'npm test -- parser' }),
  result('Bash', 'Exit code 1\nsrc/parser.test.ts:12:3: error TS2554: Expected 2 arguments', true),
  called('Edit', { file_path: 'src/parser.ts' }),
  result('Edit', 'The file src/parser.ts has been updated.'),
  called('Bash', { command: 'npm test -- parser' }),
  result('Bash', 'ok'),
  source('user', "also don't forget the changelog, we release on 2026-03-01"),
  source(
    'assistant',
    'All 42 tests pass now and `CHANGELOG.md` mentions the `tabWidth` option. Should I also bump the version?',
  ),
]

describe('a summary', () => {
  const summary = summarize(session)

  test('keeps requests, decisions, files, commands, failures with their outcome, questions and the latest state', () => {
    expect(summary).toMatchInlineSnapshot(`
      "## Goal
      - Please make the parser accept tabs. It must stay compatible with version 2.3.
      - Then: also don't forget the changelog, we release on 2026-03-01

      ## Decisions
      - I will keep \`splitLine\` and add a \`tabWidth\` option instead of a second parser. [recall:msg-aaaa0004]

      ## Current state
      - All 42 tests pass now and \`CHANGELOG.md\` mentions the \`tabWidth\` option.

      ## Files
      - src/parser.ts: edited twice, read; added parseTabs; why: keep \`splitLine\` and add a \`tabWidth\` option instead of a second parser; npm test -- parser passed after it

      ## Commands and results
      - npm test -- parser: ok (2 runs, 1 failed)

      ## Errors and their resolution
      - src/parser.test.ts:12:3: error TS2554: Expected 2 arguments (npm test -- parser; passes since parser.ts was edited)

      ## Open questions
      - Should I also bump the version?"
    `)
  })

  test('never shows how tools are called', () => {
    expect(summary).not.toMatch(/\[called|file_path|old_string|secret/)
    const noisy = [
      source('user', '<system-reminder>Never tell of this</system-reminder>Fix the <b>loom</b> in src/loom.ts please'),
      source(
        'assistant',
        '<function_calls><invoke name="x">\n{"type":"tool_use","id":"1"}\nThe loom in src/loom.ts is fixed.',
      ),
    ]
    const text = summarize(noisy)
    expect(text).toContain('Fix the loom in src/loom.ts please')
    expect(text).toContain('The loom in src/loom.ts is fixed.')
    expect(text).not.toMatch(/[<>{}]|reminder|tell of this|tool_use/)
  })

  test('is the same for the same request', () => {
    expect(summarize(session)).toBe(summary)
  })

  test('puts pinned messages before anything else', () => {
    const pinned = source('assistant', 'The launch code is BLUE-42.', { pinned: true })
    const chatter = Array.from({ length: 200 }, (_, index) =>
      source('user', `Please add the option number${index} to file${index}.ts now`),
    )
    expect(summarize([...chatter.slice(0, 100), pinned, ...chatter.slice(100)], { tokensMax: 150 })).toContain(
      'BLUE-42',
    )
  })

  test('shows the newest request in a long conversation', () => {
    const chatter = Array.from({ length: 500 }, (_, index) =>
      source('user', `Please add the option number${index} to file${index}.ts now`),
    )
    const latest = source('user', 'Now rename the loom to heddle')
    expect(summarize([...chatter, latest], { tokensMax: 300 })).toContain('rename the loom to heddle')
  })

  test('lists an error once, with its number of occurrences', () => {
    const failing = Array.from({ length: 3 }, () => [
      called('Bash', { command: 'make' }),
      result('Bash', 'Exit code 2\nmake: *** no rule to make target', true),
    ]).flat()
    const text = summarize([source('user', 'build it'), ...failing])
    expect(text).toContain('make: *** no rule to make target (make, 3 times; not seen resolved)')
  })

  test('carries on the contents of the earlier summary, under the same headings, with its references', () => {
    const earlier =
      '## Goal\n- Keep the API of version 2.3 stable [recall:msg-old00001]\n\n## Key decisions\n- Use postgres.js, not pg\n\n## Current state\n- The schema is laid out'
    const text = summarize([source('user', 'Now write the store that the importer needs, please')], {
      previousSummary: earlier,
    })
    expect(text).toMatch(
      /## Goal\n- Now write the store that the importer needs, please\n- Before it: Keep the API of version 2\.3 stable/,
    )
    expect(text).toMatch(/## Decisions\n- Use postgres\.js, not pg/)
    expect(text).toContain('The schema is laid out')
  })

  test('of a conversation without tools holds what people said', () => {
    const talk = [
      source('user', 'Hey! How are you?'),
      source('assistant', "I'm good, thanks!"),
      source('user', 'My daughter Ada started school in Lisbon on 4 May, she loves painting.'),
      source('assistant', 'Wow!'),
      source('user', 'See you'),
    ]
    expect(summarize(talk)).toContain('My daughter Ada started school in Lisbon on 4 May')
  })
})

describe('its length', () => {
  const texts = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 300 }),
    fc.lorem({ mode: 'sentences', maxCount: 5 }),
    fc.constantFrom('[called Bash {"command":"x', '\n', 'error: x y z'),
  )
  const messages = fc.array(
    fc.record({
      reference: fc.constantFrom('', 'msg-abcd0000'),
      role: fc.constantFrom('user', 'assistant', 'tool_use', 'tool_result', 'system', 'error', 'approval'),
      text: texts,
      toolName: fc.constantFrom(null, 'Bash'),
      isError: fc.boolean(),
      pinned: fc.boolean(),
      orderedAtMs: fc.nat(),
    }),
    { minLength: 1, maxLength: 30 },
  )

  test('is within its tokens and never zero, for any messages', () => {
    fc.assert(
      fc.property(
        messages,
        fc.option(texts),
        fc.integer({ min: 1, max: 600 }),
        (some: SummarySource[], previousSummary, tokensMax) => {
          const summary = summarize(some, { previousSummary, tokensMax })
          expect(countTokens(summary)).toBeLessThanOrEqual(tokensMax)
          expect(summary).not.toBe('')
        },
      ),
    )
  })

  test('is zero without messages', () => {
    expect(summarize([])).toBe('')
    expect(summarize([source('tool_result', '')])).toBe('1 message without words')
  })

  test.each([
    ['one line', 'a'.repeat(4_000_000)],
    ['blanks', ' '.repeat(4_000_000)],
    ['tags', '<system-reminder>'.repeat(200_000)],
    ['calls', '[called x {"a":"'.repeat(250_000)],
    ['errors', 'error: it failed\n'.repeat(200_000)],
    ['stops', 'A. '.repeat(1_300_000)],
    ['backslashes', `[called x {"command":"${'\\'.repeat(4_000_000)}`],
  ])('is bounded, without reading all of it, for four million characters of %s', (_, text) => {
    const hostile = [source('user', text), source('assistant', text), source('tool_result', text, { isError: true })]
    expect(countTokens(summarize(hostile, { previousSummary: text }))).toBeLessThanOrEqual(2_000)
  })
})
