/** A small session in the form of Claude Code's transcripts: two requests, long and short outputs, and a compaction. */
export function sessionLines(): string[] {
  let count = 0
  const uuid = () => `00000000-0000-4000-8000-${String(++count).padStart(12, '0')}`
  const record = (type: string, content: unknown, more: object = {}) =>
    JSON.stringify({ type, uuid: uuid(), message: { role: type, content }, ...more })
  const said = (text: string) => record('assistant', [{ type: 'text', text }])
  const called = (id: string, name: string, input: object, result: string, isError = false) => [
    record('assistant', [{ type: 'tool_use', id, name, input }]),
    record('user', [{ type: 'tool_result', tool_use_id: id, content: result, ...(isError && { is_error: true }) }]),
  ]
  const numbered = (lines: readonly string[]) => lines.map((line, index) => `${String(index + 1).padStart(6)}→${line}`)
  const source = Array.from({ length: 900 }, (_, line) => `export const rule${line} = parseRule('name-${line}')`)
  const log = Array.from({ length: 1_500 }, (_, line) => `ok ${line} - converts the unit number ${line}`)
  log[700] = 'not ok 700 - Error: the date 31.12. was not understood'
  const found = Array.from({ length: 700 }, (_, line) => `src/rules/file${line}.ts:${line}: import { rule${line} }`)
  const todo = (content: string, status: string) => ({ content, status, activeForm: content })
  return [
    record('user', 'Write every change into the changelog. First fix the unit conversion in src/units.ts.'),
    said('I will look at the conversion.'),
    ...called('toolu_read', 'Read', { file_path: '/repo/src/rules.ts' }, numbered(source).join('\n')),
    ...called(
      'toolu_part',
      'Read',
      { file_path: '/repo/src/units.ts', offset: 1, limit: 2 },
      numbered(source).join('\n'),
    ),
    ...called('toolu_test', 'Bash', { command: 'npm test' }, log.join('\n')),
    ...called('toolu_fail', 'Bash', { command: 'npm run lint' }, 'Exit code 1\nlint failed', true),
    ...called('toolu_grep', 'Grep', { pattern: 'rule', output_mode: 'content' }, found.join('\n')),
    said('The conversion is fixed.'),
    record('user', 'now the date parser, please: "31.12." has to be the end of THIS year'),
    ...called('toolu_todo', 'TodoWrite', { todos: [todo('Parse dates without a year', 'in_progress')] }, 'Todos saved'),
    ...called(
      'toolu_edit',
      'Edit',
      { file_path: '/repo/src/dates.ts', old_string: 'year', new_string: 'thisYear' },
      'The file /repo/src/dates.ts has been updated.',
    ),
    record('user', 'This session is being continued from a previous conversation.', { isCompactSummary: true }),
    ...called('toolu_last', 'Bash', { command: 'git status' }, 'nothing to commit'),
    said('Dates without a year are parsed now.'),
  ]
}
