import { expect, test } from 'vitest'
import { readAppend } from '../calls/append-input.js'

const names = { agent: 'pilot', thread: 'tides', format: 'openai-chat' }
const read = (...messages: unknown[]) => readAppend({ ...names, messages })
const call = { id: 'call_1', type: 'function', function: { name: 'read_tide', arguments: '{"harbour": "Hull"}' } }
const completion = {
  id: 'chatcmpl-AbC123',
  object: 'chat.completion',
  created: 1_770_000_000,
  model: 'gpt-5',
  choices: [
    {
      index: 0,
      finish_reason: 'tool_calls',
      logprobs: null,
      message: { role: 'assistant', content: null, refusal: null, annotations: [], tool_calls: [call] },
    },
  ],
  usage: {
    prompt_tokens: 1_200,
    completion_tokens: 80,
    total_tokens: 1_280,
    prompt_tokens_details: { cached_tokens: 1_024, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 64 },
  },
}

test('a whole completion becomes the message of its choice, with its id, its model and its usage', () => {
  const { messages, chosenIds } = read(completion)
  expect(messages).toEqual([
    {
      id: expect.any(String),
      sourceId: 'chatcmpl-AbC123',
      role: 'assistant',
      content: '',
      toolCalls: [{ id: 'call_1', name: 'read_tide', arguments: '{"harbour": "Hull"}' }],
      model: 'gpt-5',
      usage: { inputTokens: 176, cacheReadTokens: 1_024, outputTokens: 80, reasoningTokens: 64 },
    },
  ])
  expect([...chosenIds]).toEqual([messages[0]?.id])
})

test('messages of requests and of answers can be mixed, and results are named after their calls', () => {
  const { messages, chosenIds } = read(
    { role: 'developer', content: 'Be brief.' },
    {
      role: 'user',
      name: 'mia',
      content: [
        { type: 'text', text: 'When is' },
        { type: 'text', text: 'high water?' },
      ],
    },
    completion.choices[0]?.message,
    { role: 'tool', tool_call_id: 'call_1', content: [{ type: 'text', text: 'at four' }] },
    { role: 'assistant', content: null, refusal: 'I will not say.', tool_calls: undefined },
  )
  expect(messages.map(({ id: _, ...message }) => message)).toEqual([
    { role: 'system', content: 'Be brief.', metadata: { role: 'developer' } },
    { role: 'user', content: 'When is\n\nhigh water?', metadata: { name: 'mia' } },
    { role: 'assistant', content: '', toolCalls: [expect.objectContaining({ id: 'call_1' })] },
    { role: 'tool_result', content: 'at four', toolCallId: 'call_1', toolName: 'read_tide' },
    { role: 'assistant', content: 'I will not say.', metadata: { refusal: true } },
  ])
  expect(chosenIds.size).toBe(0)
})

test('a completion has the same id each time it is appended, and another one in another thread', () => {
  const idIn = (thread: string, entry: unknown) => readAppend({ ...names, thread, messages: [entry] }).messages[0]?.id
  expect(idIn('tides', completion)).toBe(idIn('tides', structuredClone(completion)))
  expect(idIn('tides', completion)).not.toBe(idIn('winds', completion))
})

test('replies of a server that gives them all one id are distinguished by their contents', () => {
  const said = (content: string) => ({ ...completion, choices: [{ message: { role: 'assistant', content } }] })
  const [first, second] = read(said('at four'), said('at five')).messages
  expect(first?.sourceId).toBe(second?.sourceId)
  expect(first?.id).not.toBe(second?.id)
})

test('a named context is linked only to the replies', () => {
  const contextId = '01998c1e-9d1c-7cc0-a4a2-6f60c1f1d0a1'
  const { messages } = readAppend({ ...names, contextId, messages: [{ role: 'user', content: 'Go' }, completion] })
  expect(messages.map((message) => message.contextId)).toEqual([undefined, contextId])
})

test.each<[string, unknown, string]>([
  ['no role', { content: 'Go' }, 'messages.1.role'],
  ['a role of another form', { role: 'tool_result', content: 'Go' }, 'messages.1.role'],
  ['a role that every object has', { role: 'constructor', content: 'Go' }, 'messages.1.role'],
  ['a user who says nothing', { role: 'user', content: null }, 'messages.1.content'],
  ['a part without a type', { role: 'user', content: ['Go'] }, 'messages.1.content.0'],
  ['a text that is none', { role: 'user', content: [{ type: 'text', text: 5 }] }, 'messages.1.content.0.text'],
  ['a result without its id', { role: 'tool', content: 'seen' }, 'messages.1.tool_call_id'],
  [
    'a call without a name',
    { role: 'assistant', tool_calls: [call, { ...call, function: { arguments: '{}' } }] },
    'messages.1.tool_calls.1.function.name',
  ],
  ['a call of nothing', { role: 'assistant', tool_calls: [{ id: 'c' }] }, 'messages.1.tool_calls.0.function'],
  [
    'arguments that are a list',
    { role: 'assistant', tool_calls: [{ id: 'c', function: { name: 'f', arguments: [] } }] },
    'messages.1.tool_calls.0.function.arguments',
  ],
  ['a completion without a choice', { ...completion, choices: [] }, 'messages.1.choices'],
  [
    'a completion of several choices',
    { ...completion, choices: [...completion.choices, ...completion.choices] },
    'messages.1.choices',
  ],
  ['a piece of a stream', { ...completion, choices: [{ delta: { content: 'at' } }] }, 'messages.1.choices.0.message'],
  [
    'an answer of Anthropic',
    { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'n', input: {} }] },
    'messages.1.content.0',
  ],
  ['no object', 'Go', 'messages.1'],
])('%s is refused by its path in the form that it came in', (_, entry, field) => {
  expect(() => read({ role: 'user', content: 'first' }, entry)).toThrow(
    expect.objectContaining({ code: 'VALIDATION_ERROR', field, message: expect.stringContaining(`${field}: `) }),
  )
})

test('a refusal repeats no contents', () => {
  expect(() => read({ role: 'user', content: { secret: 'pelican' } })).toThrow(/received an object/)
  expect(() => read({ role: 'user', content: [{ type: 'text', text: ['pelican'] }] })).toThrow(/received a list of 1/)
})

test('a message that is too large as a whole is named by its place', () => {
  const content = 'x'.repeat(4_000_001)
  expect(() => read({ role: 'user', content: 'first' }, { role: 'user', content })).toThrow(
    expect.objectContaining({ code: 'PAYLOAD_TOO_LARGE', field: 'messages.1' }),
  )
})

test('a key gives ids to messages without one', () => {
  const keyed = () => readAppend({ ...names, idempotencyKey: 'turn-1', messages: [{ role: 'user', content: 'Go' }] })
  expect(keyed().messages).toEqual(keyed().messages)
  expect(keyed().chosenIds.size).toBe(1)
})
