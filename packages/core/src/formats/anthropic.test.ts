import { expect, test } from 'vitest'
import { toAnthropic } from './anthropic.js'
import type { NeutralMessage } from './neutral-message.js'

const user: NeutralMessage = { role: 'user', content: 'Hi' }
const result = (toolCallId: string, content = 'ok'): NeutralMessage => ({ role: 'tool_result', content, toolCallId })
const calling = (...ids: string[]): NeutralMessage => ({
  role: 'assistant',
  content: 'Looking.',
  toolCalls: ids.map((id) => ({ id, name: 'Read', arguments: { path: id } })),
})

test('system messages at the start are the system prompt, later ones are marked user text', () => {
  const rendered = toAnthropic([
    { role: 'system', content: 'One.' },
    { role: 'system', content: ' ' },
    { role: 'system', content: 'Two.' },
    user,
    { role: 'system', content: 'Three.' },
  ])
  expect(rendered.system).toEqual([
    { type: 'text', text: 'One.' },
    { type: 'text', text: 'Two.' },
  ])
  expect(rendered.messages).toEqual([
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Hi' },
        { type: 'text', text: '<system-note>\nThree.\n</system-note>' },
      ],
    },
  ])
})

test('all results of parallel calls are at the start of the one user turn after them, before user text', () => {
  const { messages } = toAnthropic([
    user,
    calling('a', 'b'),
    result('a', 'A'),
    { ...result('b', 'B'), isError: true },
    user,
  ])
  expect(messages.slice(1)).toEqual([
    {
      role: 'assistant',
      content: [
        { type: 'text', text: 'Looking.' },
        { type: 'tool_use', id: 'a', name: 'Read', input: { path: 'a' } },
        { type: 'tool_use', id: 'b', name: 'Read', input: { path: 'b' } },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'a', content: 'A' },
        { type: 'tool_result', tool_use_id: 'b', content: 'B', is_error: true },
        { type: 'text', text: 'Hi' },
      ],
    },
  ])
})

test('a conversation that starts with the assistant is opened by a user turn', () => {
  const { messages } = toAnthropic([{ role: 'assistant', content: 'Hello' }])
  expect(messages.map((message) => message.role)).toEqual(['user', 'assistant'])
})

test('consecutive turns of one role are merged, also across empty messages', () => {
  const { messages } = toAnthropic([user, { role: 'assistant', content: ' \n' }, user])
  expect(messages).toHaveLength(1)
  expect(messages[0]?.content).toHaveLength(2)
})

test('an answer that the model should continue ends without white space', () => {
  const { messages } = toAnthropic([user, { role: 'assistant', content: 'Sure: \n' }])
  expect(messages[1]?.content).toEqual([{ type: 'text', text: 'Sure:' }])
})

test('an empty result has no content; an empty error has a placeholder', () => {
  const { messages } = toAnthropic([user, calling('a', 'b'), result('a', ''), { ...result('b', '\n'), isError: true }])
  expect(messages[2]?.content).toEqual([
    { type: 'tool_result', tool_use_id: 'a' },
    { type: 'tool_result', tool_use_id: 'b', content: '[no output]', is_error: true },
  ])
})

test('signed reasoning starts its turn', () => {
  const thinking = [
    { text: 'Let me see.', signature: 'sig' },
    { text: '', redacted: 'data' },
  ]
  const { messages } = toAnthropic([user, { ...calling('a'), thinking }, result('a')])
  expect(messages[1]?.content.slice(0, 2)).toEqual([
    { type: 'thinking', thinking: 'Let me see.', signature: 'sig' },
    { type: 'redacted_thinking', data: 'data' },
  ])
})

test('reasoning with an unsigned block is left out whole', () => {
  const thinking = [{ text: 'Signed.', signature: 'sig' }, { text: 'Unsigned.' }]
  const { messages } = toAnthropic([user, { ...calling('a'), thinking }, result('a')])
  expect(messages[1]?.content.map((block) => block.type)).toEqual(['text', 'tool_use'])
})

test('reasoning that could not start its turn, or that nothing follows, is left out', () => {
  const thinking = [{ text: 'Signed.', signature: 'sig' }]
  const said = (content: string): NeutralMessage => ({ role: 'assistant', content, thinking })
  expect(toAnthropic([user, said('A'), said('B')]).messages[1]?.content.map((block) => block.type)).toEqual([
    'thinking',
    'text',
    'text',
  ])
  expect(toAnthropic([user, said('')]).messages).toHaveLength(1)
})

test('half a surrogate pair, in a text or escaped in arguments, is replaced', () => {
  const { messages } = toAnthropic([
    { role: 'user', content: 'cut \ud83d' },
    { role: 'assistant', content: '', toolCalls: [{ id: 'a', name: 'say', arguments: '{"text":"\\ud83d"}' }] },
    result('a'),
  ])
  expect(messages[0]?.content).toEqual([{ type: 'text', text: 'cut \ufffd' }])
  expect(messages[1]?.content).toEqual([{ type: 'tool_use', id: 'a', name: 'say', input: { text: '\ufffd' } }])
})

test('arguments nested too deeply to serialize are sent as text', () => {
  const deep = `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`
  const { messages } = toAnthropic([
    user,
    { role: 'assistant', content: '', toolCalls: [{ id: 'a', name: 'say', arguments: deep }] },
    result('a'),
  ])
  expect(messages[1]?.content).toEqual([
    { type: 'tool_use', id: 'a', name: 'say', input: { unparsed_arguments: deep } },
  ])
})

test('a long run of white space before the end takes no noticeable time', () => {
  const spaces = ' '.repeat(1_000_000)
  const { messages } = toAnthropic([user, { role: 'assistant', content: `a${spaces}b${spaces}` }])
  expect(messages[1]?.content).toEqual([{ type: 'text', text: `a${spaces}b` }])
})
