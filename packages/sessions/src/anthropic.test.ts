import { expect, test } from 'vitest'
import { parseSession } from './parse.js'

const text = (value: string) => ({ type: 'text', text: value })

test('a request is read with its system prompt, its blocks and the usage in its answers', () => {
  const { format, threads } = parseSession(
    JSON.stringify({
      model: 'claude',
      system: [text('Be brief.')],
      messages: [
        { role: 'user', content: 'Read a.' },
        {
          id: 'msg_1',
          type: 'message',
          role: 'assistant',
          model: 'claude',
          content: [text('Reading.'), { type: 'tool_use', id: 't1', name: 'read', input: { path: 'a' } }],
          usage: { input_tokens: 5 },
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', is_error: true }, text('And?')] },
      ],
    }),
    { fileName: 'a.json', format: 'auto' },
  )
  expect(format).toBe('anthropic')
  expect(threads).toMatchObject([{ suffix: null, toolCalls: 1, toolResults: 1 }])
  expect(threads[0]?.messages.map(({ input }) => input)).toEqual([
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Read a.' },
    {
      role: 'assistant',
      sourceId: 'msg_1',
      content: 'Reading.',
      toolCalls: [{ id: 't1', name: 'read', arguments: { path: 'a' } }],
      model: 'claude',
      usage: { input_tokens: 5 },
    },
    { role: 'tool_result', content: '', toolCallId: 't1', toolName: 'read', isError: true },
    { role: 'user', content: 'And?' },
  ])
})

test('a system prompt keeps its non-text blocks, and is refused if it is neither text nor list', () => {
  const read = (system: unknown) =>
    parseSession(JSON.stringify({ system, messages: [{ role: 'user', content: 'Go' }] }), {
      fileName: 'a.json',
      format: 'auto',
    })
  const block = { type: 'weird', value: 1 }
  expect(read([text('Be brief.'), block]).threads[0]?.messages[0]?.input).toEqual({
    role: 'system',
    content: 'Be brief.\n\n[weird]',
    metadata: { blocks: [block] },
  })
  expect(() => read({ question: 'Why?' })).toThrow('a.json: system: content: must be a text, a list of blocks or null')
})

test.each(['lines', 'list'])('messages alone are distinguished from OpenAI by their blocks, as %s', (shape) => {
  const messages = [
    { role: 'user', content: [text('Go')] },
    { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'read', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: 'ok' }] },
  ]
  const file =
    shape === 'list' ? JSON.stringify(messages, null, 2) : messages.map((message) => JSON.stringify(message)).join('\n')
  expect(parseSession(file, { fileName: 'a', format: 'auto' })).toMatchObject({
    format: 'anthropic',
    threads: [{ toolCalls: 1, toolResults: 1 }],
  })
})
