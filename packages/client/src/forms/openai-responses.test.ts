import { expect, test } from 'vitest'
import { readAppend } from '../calls/append-input.js'

const read = (...messages: unknown[]) =>
  readAppend({ agent: 'pilot', thread: 'tides', format: 'openai-responses', messages })
const said = (...messages: unknown[]) => read(...messages).messages.map(({ id: _, ...message }) => message)

const reasoning = { id: 'rs_1', type: 'reasoning', summary: [{ type: 'summary_text', text: 'Tide first.' }] }
const encrypted = { id: 'rs_2', type: 'reasoning', summary: [], encrypted_content: 'gAAAA' }
const message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: 'I look.', annotations: [] }],
}
const call = { id: 'fc_1', type: 'function_call', call_id: 'call_1', name: 'read_tide', arguments: '{"a":1}' }
const output = { type: 'function_call_output', call_id: 'call_1', output: 'at four' }
const response = {
  id: 'resp_1',
  object: 'response',
  model: 'gpt-5',
  status: 'completed',
  output: [reasoning, encrypted, message, call],
  usage: {
    input_tokens: 300,
    input_tokens_details: { cached_tokens: 256 },
    output_tokens: 40,
    output_tokens_details: { reasoning_tokens: 30 },
    total_tokens: 340,
  },
}
const spoken = {
  role: 'assistant',
  content: 'I look.',
  thinking: [{ text: 'Tide first.' }],
  toolCalls: [{ id: 'call_1', name: 'read_tide', arguments: '{"a":1}' }],
  metadata: { reasoning: [{ id: 'rs_2', encrypted_content: 'gAAAA' }] },
}

test('a response is one message, whose encrypted reasoning is sent to no other provider', () => {
  expect(said(response)).toEqual([
    {
      ...spoken,
      sourceId: 'resp_1',
      model: 'gpt-5',
      usage: { inputTokens: 44, cacheReadTokens: 256, outputTokens: 40, reasoningTokens: 30 },
    },
  ])
})

test('the items of an output are also one message, which results end', () => {
  expect(said({ role: 'user', content: 'When?' }, ...response.output, output, message)).toEqual([
    { role: 'user', content: 'When?' },
    { ...spoken, sourceId: 'msg_1' },
    { role: 'tool_result', content: 'at four', toolCallId: 'call_1', toolName: 'read_tide' },
    { role: 'assistant', content: 'I look.', sourceId: 'msg_1' },
  ])
})

test('two consecutive answers stay two, and consecutive calls belong to one', () => {
  const plain = (content: string) => ({ type: 'message', role: 'assistant', content })
  const messages = said(plain('one'), plain('two'), call, { ...call, call_id: 'call_2' }, output, {
    ...output,
    call_id: 'call_2',
  })
  expect(messages.map(({ role, content, toolCalls = [] }) => [role, content, toolCalls.length])).toEqual([
    ['assistant', 'one', 0],
    ['assistant', 'two', 2],
    ['tool_result', 'at four', 0],
    ['tool_result', 'at four', 0],
  ])
})

test('calls of other tools that wait for an output are calls, and calls that the server executed are marked and kept', () => {
  const shell = { type: 'shell_call', id: 'sh_1', call_id: 'call_9', action: { commands: ['ls'] } }
  const outcome = { stdout: 'tides.txt', stderr: '', outcome: { type: 'exit', exit_code: 0 } }
  const search = { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'tide' } }
  expect(said(search, shell, { type: 'shell_call_output', call_id: 'call_9', output: [outcome] })).toEqual([
    {
      role: 'assistant',
      sourceId: 'ws_1',
      content: '[web_search_call]',
      toolCalls: [{ id: 'call_9', name: 'shell', arguments: { commands: ['ls'] } }],
      metadata: { blocks: [search] },
    },
    { role: 'tool_result', content: JSON.stringify([outcome]), toolCallId: 'call_9', toolName: 'shell' },
  ])
})

test.each<[string, unknown, string]>([
  ['another role', { role: 'king', content: 'x' }, 'messages.0.role'],
  ['an item of no type', { content: 'x' }, 'messages.0.role'],
  ['a reference', { type: 'item_reference', id: 'msg_1' }, 'messages.0'],
  ['a reference without a type', { id: 'msg_1' }, 'messages.0'],
  ['a call without its id', { ...call, call_id: undefined }, 'messages.0.call_id'],
  ['an output without its call', { type: 'function_call_output', output: 'x' }, 'messages.0.call_id'],
  ['an output of nothing', { ...output, output: null }, 'messages.0.output'],
  ['a summary that is a text', { ...reasoning, summary: 'Tide' }, 'messages.0.summary'],
  ['a response without output', { ...response, output: [] }, 'messages.0.output'],
  ['a fault within a response', { ...response, output: [reasoning, { ...call, name: 7 }] }, 'messages.0.output.1.name'],
])('%s is refused by its path in the form that it came in', (_, entry, field) => {
  expect(() => read(entry)).toThrow(expect.objectContaining({ code: 'VALIDATION_ERROR', field }))
})

test('images of a message and of a tool become parts, at their positions in the text', () => {
  const image = { type: 'input_image', image_url: 'data:image/png;base64,iVBORw0KGgo=', detail: 'auto' }
  const asked = { role: 'user', content: [{ type: 'input_text', text: 'See' }, image] }
  const answered = { ...output, output: [{ type: 'input_text', text: 'taken' }, image] }
  const [user, , result] = said(asked, call, answered)
  const part = { type: 'image', mediaType: 'image/png', data: 'iVBORw0KGgo=' }
  expect(user).toMatchObject({ content: 'See', parts: [{ ...part, offset: 3 }] })
  expect(result).toMatchObject({ content: 'taken', parts: [{ ...part, offset: 5 }] })
})
