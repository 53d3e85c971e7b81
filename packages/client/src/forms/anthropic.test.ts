import { expect, test } from 'vitest'
import { readAppend } from '../calls/append-input.js'

const read = (...messages: unknown[]) => readAppend({ agent: 'pilot', thread: 'tides', format: 'anthropic', messages })
const said = (...messages: unknown[]) => read(...messages).messages.map(({ id: _, ...message }) => message)

const reply = {
  id: 'msg_01XFDUDYJgAACzvnptvVoYEL',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-5',
  content: [
    { type: 'thinking', thinking: 'The tide first.', signature: 'c2lnbmVk' },
    { type: 'redacted_thinking', data: 'ZW5jcnlwdGVk' },
    { type: 'text', text: 'I look.', citations: null },
    { type: 'tool_use', id: 'toolu_1', name: 'read_tide', input: { harbour: 'Hull' } },
    { type: 'tool_use', id: 'toolu_2', name: 'read_wind', input: {} },
  ],
  stop_reason: 'tool_use',
  stop_sequence: null,
  usage: { input_tokens: 40, cache_read_input_tokens: 900, cache_creation_input_tokens: 60, output_tokens: 25 },
}

test('an answer is one message, with its reasoning and signature', () => {
  expect(said(reply)).toEqual([
    {
      sourceId: reply.id,
      role: 'assistant',
      content: 'I look.',
      thinking: [
        { text: 'The tide first.', signature: 'c2lnbmVk' },
        { text: '', redacted: 'ZW5jcnlwdGVk' },
      ],
      toolCalls: [
        { id: 'toolu_1', name: 'read_tide', arguments: { harbour: 'Hull' } },
        { id: 'toolu_2', name: 'read_wind', arguments: {} },
      ],
      model: 'claude-sonnet-4-5',
      usage: { inputTokens: 40, cacheReadTokens: 900, cacheWriteTokens: 60, outputTokens: 25 },
    },
  ])
})

test("the results in a user's turn become one message each, before the rest of the turn", () => {
  const results = [
    { type: 'tool_result', tool_use_id: 'toolu_1', content: [{ type: 'text', text: 'at four' }] },
    { type: 'tool_result', tool_use_id: 'toolu_2', content: 'no wind', is_error: true },
  ]
  const { entries } = read(reply, { role: 'user', content: [...results, { type: 'text', text: 'Go on.' }] })
  expect(entries).toEqual([0, 1, 1, 1])
  expect(said(reply, { role: 'user', content: [...results, { type: 'text', text: 'Go on.' }] }).slice(1)).toEqual([
    { role: 'tool_result', content: 'at four', toolCallId: 'toolu_1', toolName: 'read_tide' },
    { role: 'tool_result', content: 'no wind', toolCallId: 'toolu_2', toolName: 'read_wind', isError: true },
    { role: 'user', content: 'Go on.' },
  ])
})

test.each<[string, unknown, string]>([
  ['another role', { role: 'tool', content: 'x' }, 'messages.0.role'],
  ['no content', { role: 'user' }, 'messages.0.content'],
  ['an empty turn of the user', { role: 'user', content: [] }, 'messages.0.content'],
  [
    'a result without its call',
    { role: 'user', content: [{ type: 'tool_result' }] },
    'messages.0.content.0.tool_use_id',
  ],
  [
    'a result of no content',
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: 7 }] },
    'messages.0.content.0.content',
  ],
  [
    'a call without a name',
    {
      role: 'assistant',
      content: [
        { type: 'text', text: 'x' },
        { type: 'tool_use', id: 't', input: {} },
      ],
    },
    'messages.0.content.1.name',
  ],
  ['a call of a user', { role: 'user', content: [{ type: 'tool_use', id: 't' }] }, 'messages.0.content.0'],
  [
    'encrypted reasoning of nothing',
    { role: 'assistant', content: [{ type: 'redacted_thinking' }] },
    'messages.0.content.0.data',
  ],
  ['a call of the AI SDK', { role: 'assistant', content: [{ type: 'tool-call' }] }, 'messages.0.content.0'],
])('%s is refused by its path in the form that it came in', (_, entry, field) => {
  expect(() => read(entry)).toThrow(expect.objectContaining({ code: 'VALIDATION_ERROR', field }))
})

test('a list of messages is read as a whole or not at all', () => {
  expect(() => read({ role: 'user', content: 'good' }, { role: 'user', content: [{ type: 'text' }] })).toThrow(
    expect.objectContaining({ field: 'messages.1.content.0.text' }),
  )
})
