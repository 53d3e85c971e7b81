import { expect, test } from 'vitest'
import type { NeutralMessage } from './neutral-message.js'
import { toOpenAiChat } from './openai-chat.js'

const result = (toolCallId: string, content = 'ok'): NeutralMessage => ({ role: 'tool_result', content, toolCallId })

function onlyCall(argumentsGiven: string | Record<string, string>, id = 'call_1', name = 'book') {
  const { messages } = toOpenAiChat([
    { role: 'assistant', content: '', toolCalls: [{ id, name, arguments: argumentsGiven }] },
    result(id),
  ])
  const [message, answer] = messages
  if (message?.role !== 'assistant' || answer?.role !== 'tool') throw new Error('expected a call and its result')
  const call = message.tool_calls?.[0]
  if (call === undefined) throw new Error('expected a call')
  return { call, answer, content: message.content }
}

test('parallel calls are in one message, each result in a message of its own', () => {
  const { messages } = toOpenAiChat([
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Compare the files.' },
    {
      role: 'assistant',
      content: 'Reading both.',
      toolCalls: [
        { id: 'call_a', name: 'Read', arguments: { path: 'a.ts' } },
        { id: 'call_b', name: 'Read', arguments: '{"path": "b.ts"}' },
      ],
    },
    result('call_a', 'A'),
    result('call_b', ''),
  ])
  expect(messages).toEqual([
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Compare the files.' },
    {
      role: 'assistant',
      content: 'Reading both.',
      tool_calls: [
        { id: 'call_a', type: 'function', function: { name: 'Read', arguments: '{"path":"a.ts"}' } },
        { id: 'call_b', type: 'function', function: { name: 'Read', arguments: '{"path": "b.ts"}' } },
      ],
    },
    { role: 'tool', tool_call_id: 'call_a', content: 'A' },
    { role: 'tool', tool_call_id: 'call_b', content: '' },
  ])
})

test('a call without text has null as its content', () => {
  expect(onlyCall({}).content).toBeNull()
})

test('arguments that are a JSON object are sent unchanged', () => {
  const given = '{ "text":"caf\\u00e9 \\ud83d\\ude00",  "n":1.0 }'
  expect(onlyCall(given).call.function.arguments).toBe(given)
})

test.each(['{"path": ', 'ls -la', '["a"]', '"a"'])(
  'arguments that are not a JSON object are sent inside one: %s',
  (given) => {
    expect(JSON.parse(onlyCall(given).call.function.arguments)).toEqual({ unparsed_arguments: given })
  },
)

test('a call without arguments is sent with an empty object', () => {
  expect(onlyCall('').call.function.arguments).toBe('{}')
})

test('an id that the API refuses is replaced in the call and in its result', () => {
  const long = 'x'.repeat(41)
  const { call, answer } = onlyCall({}, long)
  expect(call.id).toMatch(/^heddle_[0-9a-f]{32}$/)
  expect(answer.tool_call_id).toBe(call.id)
  expect(onlyCall({}, call.id).call.id).not.toBe(call.id)
})

test('a tool name that the API refuses keeps its readable part', () => {
  expect(onlyCall({}, 'call_1', 'files.read: now').call.function.name).toBe('files_read__now')
  expect(onlyCall({}, 'call_1', 'n'.repeat(100)).call.function.name).toHaveLength(64)
})

test('an empty message is not sent, but a list is never empty', () => {
  const { messages } = toOpenAiChat([
    { role: 'assistant', content: ' ', thinking: [{ text: 'hm' }] },
    { role: 'user', content: '' },
  ])
  expect(messages).toEqual([{ role: 'user', content: expect.stringMatching(/\S/) }])
})
