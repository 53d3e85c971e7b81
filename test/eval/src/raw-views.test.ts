import { expect, test } from 'vitest'
import { rawViews } from './raw-views.js'

type Call = [name: string, input: object, result: string, isError?: boolean]

/** A session of Claude Code with these calls, and its views that are judged obsolete. */
function judged(...calls: Call[]) {
  const lines = calls.flatMap(([name, input, content, isError], index) => {
    const id = `call-${index}`
    return [
      { type: 'assistant', message: { content: [{ type: 'tool_use', id, name, input }] } },
      {
        type: 'user',
        message: { content: [{ type: 'tool_result', tool_use_id: id, content, ...(isError && { is_error: true }) }] },
      },
    ]
  })
  return rawViews(`${lines.map((line) => JSON.stringify(line)).join('\n')}\n`).map(
    ({ callId, editedLater, writtenLater, viewedLater }) => [
      callId,
      ...(editedLater ? ['edited'] : []),
      ...(writtenLater ? ['written'] : []),
      ...(viewedLater ? ['viewed'] : []),
    ],
  )
}

const read: Call = ['Read', { file_path: '/repo/a.ts' }, '     1→const a\n     2→const b']
const bash = (command: string): Call => ['Bash', { command }, '']

test('a successful edit, write or command makes an earlier view of the file obsolete', () => {
  expect(judged(read, ['Edit', { file_path: '/repo/a.ts' }, 'ok'])).toEqual([['call-0', 'edited']])
  expect(judged(read, ['Write', { file_path: '/repo/a.ts' }, 'ok'])).toEqual([['call-0', 'edited']])
  expect(judged(read, bash("cd /repo && sed -i 's/a/b/' a.ts"))).toEqual([['call-0', 'written']])
  expect(judged(read, bash('rm -r /repo'))).toEqual([['call-0', 'written']])
})

test('a failed or earlier change, or one of another file, does not make a view obsolete', () => {
  expect(judged(read, ['Edit', { file_path: '/repo/a.ts' }, 'no', true])).toEqual([['call-0']])
  expect(judged(['Edit', { file_path: '/repo/a.ts' }, 'ok'], read)).toEqual([['call-1']])
  expect(judged(read, ['Edit', { file_path: '/repo/b.ts' }, 'ok'])).toEqual([['call-0']])
  expect(judged(read, bash('rm b.ts && grep x /repo/a.ts'))).toEqual([['call-0']])
})

test('a later view makes an earlier one obsolete if it shows all of its lines', () => {
  const part: Call = ['Read', { file_path: '/repo/a.ts', limit: 1 }, '     1→const a']
  expect(judged(part, read)).toEqual([['call-0', 'viewed'], ['call-1']])
  expect(judged(read, part)).toEqual([['call-0'], ['call-1']])
})

test('views in a SWE-agent trajectory belong to the file that it names as open', () => {
  const call = (id: string, name: string) => ({
    role: 'assistant',
    tool_calls: [{ id, function: { name, arguments: '{}' } }],
  })
  const answer = (id: string, content: string) => ({
    role: 'tool',
    tool_call_ids: [id],
    content: `${content}\n(Open file: /repo/a.py)`,
  })
  const history = [call('x', 'open'), answer('x', '1:a'), call('x', 'edit'), answer('x', 'done')]
  expect(rawViews(JSON.stringify({ history }, null, 2))).toMatchObject([
    { callId: 'x', occurrence: 0, editedLater: true },
  ])
})
