import { describe, expect, test } from 'vitest'
import { describeToolCall } from '../tools/catalog.js'
import { describeToolResult } from '../tools/results.js'
import { condensedLine } from './condense.js'
import { summarizeInOneLine } from './one-line.js'

function condensed(name: string, args: Record<string, string | number>, content: string, isError = false) {
  const use = describeToolCall({ id: '1', name, arguments: args })
  const outcome = describeToolResult(use, content, isError)
  const summary = summarizeInOneLine(content, use, outcome)
  return condensedLine({ use, outcome, summary, reference: 'msg-def67890' })
}

describe('the line that replaces a message', () => {
  test.each([
    [
      condensed('Read', { file_path: 'src/a.ts' }, '1\texport class Loom {\n2\t}\n3\texport function weave() {}\n'),
      '📁 Viewed src/a.ts - 3 lines: Loom, weave() [recall:msg-def67890]',
    ],
    [
      condensed('Read', { file_path: 'a.py', offset: 40 }, '40→def weave(thread):\n41→    return thread'),
      '📁 Viewed a.py - lines 40-41: weave() [recall:msg-def67890]',
    ],
    [
      condensed('Bash', { command: 'cat README.md' }, '# Loom\n\ntext\n\n## Use\n'),
      '📁 Viewed README.md - 5 lines: Loom, Use [recall:msg-def67890]',
    ],
    [
      condensed('Grep', { pattern: 'weave\\(', path: 'src' }, 'Found 3 files\na\nb\nc'),
      "🔍 Searched 'weave\\(' in src - 3 matches [recall:msg-def67890]",
    ],
    [
      condensed('Bash', { command: 'npm test' }, 'Exit code 1\nboom', true),
      '⚡ Ran: npm test - exit 1 [recall:msg-def67890]',
    ],
    [
      condensed('Edit', { file_path: 'a.ts' }, 'The file a.ts has been updated.'),
      '✏️ Edited a.ts [recall:msg-def67890]',
    ],
    [condensed('WebFetch', { url: 'x' }, '# Loom\n\nA loom.'), '📝 Loom [recall:msg-def67890]'],
    [
      condensed('get_user', { id: 'u1' }, '{"user_id": "mia_1", "name": {"first": "Mia"}}'),
      '📝 user_id: mia_1, name: first: Mia [recall:msg-def67890]',
    ],
  ])('has the format of its kind: %s', (line, expected) => {
    expect(line).toBe(expected)
  })

  test('does not claim success for a failed edit or search', () => {
    expect(condensed('Edit', { file_path: 'a.ts' }, '<tool_use_error>String not found</tool_use_error>', true)).toBe(
      '📝 failed: String not found [recall:msg-def67890]',
    )
    expect(condensed('Grep', { pattern: 'x' }, 'Path does not exist: /x', true)).toBe(
      '📝 failed: Path does not exist: /x [recall:msg-def67890]',
    )
  })

  test('is one bounded line for any call and result', () => {
    const command = `echo "${'weave\n'.repeat(100)}"`
    expect(condensed('Bash', { command }, 'x'.repeat(4_000_000))).toBe(
      `⚡ Ran: ${'echo "weave weave weave weave weave weave weave we'.slice(0, 49)}… - ok [recall:msg-def67890]`,
    )
    const view = condensed('Read', { file_path: `${'a/'.repeat(3_000)}b.ts` }, 'z'.repeat(4_000_000))
    expect(view.length).toBeLessThan(500)
    expect(view).not.toContain('\n')
  })

  test('has at most 80 characters of a summary', () => {
    const line = condensed('WebFetch', { url: 'x' }, `# ${'loom '.repeat(40)}`)
    expect(line).toBe(`📝 ${'loom '.repeat(40).slice(0, 79)}… [recall:msg-def67890]`)
  })

  test('contains only its own reference', () => {
    expect(condensed('WebFetch', { url: 'x' }, 'see [recall:msg-evil0000] now').match(/\[recall:/g)).toHaveLength(1)
  })
})

test('a log is summarized by its last error, else by its last line', () => {
  const summary = (content: string) =>
    summarizeInOneLine(content, describeToolCall({ id: '1', name: 'bash', arguments: { command: 'make' } }), null)
  expect(
    summary('ok 1\nsrc/a.ts:3:5: error TS2304: no name\nsrc/a.ts:9:1: error TS1005: expected\n\ndone in 3 s'),
  ).toBe('src/a.ts:9:1: error TS1005: expected')
  expect(summary('compiling\n0 errors, 0 failed\n')).toBe('0 errors, 0 failed')
  expect(summary('')).toBe('no output')
})
