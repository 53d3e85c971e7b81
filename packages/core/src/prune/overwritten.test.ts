import { describe, expect, test } from 'vitest'
import { conversation, decide } from '../../../../test/support/src/samples/pruned-conversation.js'

const text = (name: string) => `const ${name} = 1\n`.repeat(30)
const written = { file_path: '/repo/a.ts', content: text('first') }
const DONE = 'File written.'

describe('the input of an earlier write of a file', () => {
  /** A write, then another call, then enough messages to make both old. */
  function decided(
    name: string,
    args: object,
    content = DONE,
    first: Parameters<typeof decide>[0][number] | null = null,
  ) {
    const { messages, tool, filler } = conversation()
    const { call } = tool('Write', written, DONE, first === null ? {} : { call: first })
    tool(name, args as never, content)
    filler(10)
    return decide(messages).filter(({ messageId }) => messageId === call.id)
  }

  test('becomes a line with a reference of its own once the whole file was written again, and the call is archived', () => {
    const [decision, ...others] = decided('Write', { file_path: '/repo/a.ts', content: text('second') })
    expect(others).toEqual([])
    expect(decision).toMatchObject({ action: 'condense', text: '', reason: 'input superseded by a later write' })
    expect(decision?.calls).toEqual([
      {
        number: 1,
        text: '✏️ Edited /repo/a.ts [recall:msg-code0001:tool-1]',
        freedTokens: expect.any(Number),
        archive: {
          messageId: 'm1',
          location: 'tool-1',
          contentType: 'edit',
          summary: 'called Write /repo/a.ts',
          content: JSON.stringify({ id: 'call-1', name: 'Write', arguments: written }),
          filePaths: ['/repo/a.ts'],
          toolName: 'Write',
          tokens: expect.any(Number),
        },
      },
    ])
  })

  test.each([
    ['an edit of the file', 'Edit', { file_path: '/repo/a.ts', old_string: 'first', new_string: 'x' }, DONE],
    ['a write of another file', 'Write', { file_path: '/repo/b.ts', content: text('b') }, DONE],
    ['a write that failed', 'Write', { file_path: '/repo/a.ts', content: text('b') }, 'Error: permission denied'],
    ['an append', 'write_file', { path: '/repo/a.ts', content: text('b'), append: true }, DONE],
  ])('stays after %s', (_, name, args, content) => {
    expect(decided(name, args, content)).toEqual([])
  })

  test('stays beside signed reasoning, in a pinned message, and if it is short', () => {
    const again = { file_path: '/repo/a.ts', content: text('second') }
    const { messages, tool, filler } = conversation()
    tool('Write', written, DONE, { call: { thinking: [{ text: 'Hm.', signature: 'signed' }] } })
    tool('Write', written, DONE, { call: { pinned: true } })
    tool('Write', { file_path: '/repo/a.ts', content: 'short' }, DONE)
    tool('Write', again, DONE)
    filler(10)
    expect(decide(messages).flatMap(({ calls }) => calls)).toEqual([])
  })

  test('is condensed beside the text of its message, which stays if it is short, and becomes a line if it is long', () => {
    const { messages, tool, filler } = conversation()
    tool('Write', written, DONE, { call: { content: 'I write it.' } })
    tool('Write', written, DONE, { call: { content: 'word '.repeat(700) } })
    tool('Write', written, DONE)
    filler(10)
    const [short, long] = decide(messages).filter(({ calls }) => calls.length > 0)
    expect(short).toMatchObject({ messageId: 'm1', text: '', archive: { location: 'tool-1' } })
    expect(long).toMatchObject({ messageId: 'm3', reason: 'old long reply', archive: { location: '' } })
    expect(long?.text).toMatch(/^📝 word .*\[recall:msg-code0003\]$/)
    expect(long?.calls[0]?.text).toMatch(/\[recall:msg-code0003:tool-1\]$/)
  })
})

test('of parallel calls those whose files were written again lose their inputs, others follow later', () => {
  const { messages, add, tool, filler } = conversation()
  const call = (id: string, path: string) => ({ id, name: 'Write', arguments: { file_path: path, content: text(id) } })
  add({ role: 'assistant', toolCalls: [call('a', '/a.ts'), call('b', '/b.ts')] })
  for (const id of ['a', 'b']) add({ role: 'tool_result', toolCallId: id, content: DONE })
  tool('Write', { file_path: '/b.ts', content: text('again') }, DONE)
  filler(10)
  const numbers = (more = {}) =>
    decide(messages, more).flatMap(({ messageId, calls }) =>
      messageId === 'm1' ? [calls.map((each) => each.number)] : [],
    )
  expect(numbers()).toEqual([[2]])
  const earlier = { alreadyPruned: new Set(['m1']), condensedCalls: new Map([['m1', [2]]]) }
  expect(numbers(earlier)).toEqual([])
  tool('Write', { file_path: '/a.ts', content: text('again') }, DONE)
  expect(numbers(earlier)).toEqual([[1, 2]])
})

test('an edit of a file that was written anew later loses its input, however tools spell the path', () => {
  const { messages, tool, filler } = conversation()
  const edit = { path: 'src/a.ts', old_str: text('old'), new_str: text('new'), command: 'str_replace' }
  const { call } = tool('str_replace_based_edit_tool', edit, 'The file was edited.', { result: { cwd: '/repo' } })
  tool('str_replace_based_edit_tool', { command: 'create', path: '/repo/src/a.ts', file_text: 'x' }, 'File created.')
  filler(10)
  const [decision] = decide(messages).filter(({ messageId }) => messageId === call.id)
  expect(decision?.calls).toMatchObject([{ text: '✏️ Edited src/a.ts [recall:msg-code0001:tool-1]' }])
})
