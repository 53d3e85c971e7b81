import { describe, expect, it } from 'vitest'
import { openAiChatRequestFaults } from './openai-chat-rules.js'
import { OpenAiReplies } from './openai-replies.js'
import { openAiResponsesRequestFaults } from './openai-responses-rules.js'
import { encryptedContentOf } from './signatures.js'

const start = { role: 'user', content: 'Begin.' }

describe('chat completions', () => {
  const body = (messages: unknown, fields: object = {}) => ({ model: 'gpt-4o', messages, ...fields })
  const called = (...ids: string[]) => ({
    role: 'assistant',
    content: null,
    tool_calls: ids.map((id) => ({ id, type: 'function', function: { name: 'find_flight', arguments: '{}' } })),
  })
  const result = (id: string) => ({ role: 'tool', tool_call_id: id, content: 'found' })
  const changed = (fields: object) => ({ ...called('a'), tool_calls: [{ ...called('a').tool_calls[0], ...fields }] })
  const tool = { type: 'function', function: { name: 'find_flight', parameters: {} } }

  it.each<[string, unknown]>([
    ['parallel calls with their results', body([start, called('a', 'b'), result('b'), result('a'), start])],
    ['parts of a text', body([{ role: 'system', content: [{ type: 'text', text: 'a' }] }, start])],
    ['a refusal', body([start, { role: 'assistant', refusal: 'No.' }, start])],
    ['tools', body([start], { tools: [tool] })],
  ])('accept %s', (_what, request) => {
    expect(openAiChatRequestFaults(request)).toEqual([])
  })

  it.each<[string, unknown, string]>([
    ['a body that is a list', [], 'not an object'],
    ['a request without a model', body([start], { model: '' }), 'model parameter'],
    ['half of a surrogate pair', body([{ role: 'user', content: '\ud83d' }]), 'surrogate'],
    ['a request without messages', body([]), 'too short'],
    ['an unknown role', body([{ role: 'human', content: 'a' }]), 'human is not one of'],
    ['a call without a result', body([start, called('a'), start]), 'did not have response messages: a'],
    ['a call at the end', body([start, called('a')]), 'did not have response messages: a'],
    [
      'a call of which one result is missing',
      body([start, called('a', 'b'), result('a'), start]),
      'response messages: b',
    ],
    ['a result without a call', body([start, result('a')]), 'must be a response to a preceding message'],
    ['a result with another id', body([start, called('a'), result('b')]), 'must be a response to a preceding message'],
    ['a result without a content', body([start, called('a'), { role: 'tool', tool_call_id: 'a' }]), 'text parts'],
    ['a call id twice', body([start, called('a', 'a'), result('a')]), 'duplicate tool call id'],
    ['a message without a content', body([{ role: 'user' }]), 'expected a text'],
    ['an answer with null and without calls', body([start, { role: 'assistant', content: null }]), 'expected a text'],
    [
      'calls beside a content that is an object',
      body([start, { ...called('a'), content: {} }, result('a')]),
      'a text or null',
    ],
    ['calls of a user', body([{ ...called('a'), role: 'user' }, result('a')]), 'only allowed on assistant'],
    ['an empty list of calls', body([start, { ...called('a'), tool_calls: [] }]), "too short - 'tool_calls'"],
    ['a call without an id', body([start, changed({ id: '' }), result('')]), 'tool_calls.id: field required'],
    ['a long call id', body([start, called('x'.repeat(41)), result('x'.repeat(41))]), 'at most 40'],
    ['a call without a function', body([start, changed({ function: undefined }), result('a')]), 'field required'],
    [
      'a name with a dot',
      body([start, changed({ function: { name: 'a.b', arguments: '' } }), result('a')]),
      'function.name',
    ],
    [
      'arguments as an object',
      body([start, changed({ function: { name: 'a', arguments: {} } }), result('a')]),
      'must be a text',
    ],
    ['a name of a user with a space', body([{ ...start, name: 'a b' }]), 'name does not match'],
    ['two tools of one name', body([start], { tools: [tool, tool] }), 'is not unique'],
    [
      'a tool of a name with a dot',
      body([start], { tools: [{ ...tool, function: { name: 'a.b' } }] }),
      'tools: the name a.b',
    ],
    ['too many tools', body([start], { tools: Array(129).fill({ type: 'custom' }) }), '129 exceed'],
  ])('refuse %s', (_what, request, rule) => {
    expect(openAiChatRequestFaults(request).join('\n')).toContain(rule)
  })
})

describe('responses', () => {
  const body = (input: unknown, fields: object = {}) => ({ model: 'gpt-5', input, ...fields })
  const call = (id: string) => ({ type: 'function_call', id: `fc_${id}`, call_id: id, name: 'find', arguments: '{}' })
  const output = (id: string) => ({ type: 'function_call_output', call_id: id, output: 'found' })
  const reasoning = (id: string) => ({ type: 'reasoning', id, summary: [], encrypted_content: encryptedContentOf(id) })
  const said = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Yes.' }] }

  it.each<[string, unknown]>([
    ['a text', body('Begin.')],
    ['calls with their outputs', body([start, call('a'), call('b'), output('b'), output('a')])],
    [
      'reasoning before a call and before a message',
      body([start, reasoning('rs_1'), call('a'), output('a'), reasoning('rs_2'), said]),
    ],
    ['an output of a call in the previous response', body([output('a')], { previous_response_id: 'resp_1' })],
    ['a compaction', body([{ type: 'compaction', encrypted_content: 'x' }, start])],
  ])('accept %s', (_what, request) => {
    expect(openAiResponsesRequestFaults(request)).toEqual([])
  })

  it.each<[string, unknown, string]>([
    ['a body that is a list', [], 'not an object'],
    ['a request without a model', body([start], { model: '' }), 'model'],
    ['half of a surrogate pair', body('\ud83d'), 'surrogate'],
    ['a request without an input', body([]), 'input'],
    ['an unknown role', body([{ role: 'tool', content: 'a' }]), 'unexpected tool'],
    ['a message without a content', body([{ role: 'user' }]), 'expected a text'],
    ['an item of an unknown type', body([{ type: 'thought' }]), "invalid value: 'thought'"],
    ['a call without an output', body([start, call('a'), start]), 'no tool output found for function call a'],
    ['an output without a call', body([start, output('a')]), 'no tool call found'],
    ['an output before its call', body([start, output('a'), call('a')]), 'no tool call found'],
    ['two outputs of a call', body([start, call('a'), output('a'), output('a')]), 'no tool call found'],
    [
      'an output of another kind',
      body([start, call('a'), { ...output('a'), type: 'custom_tool_call_output' }]),
      'no tool call found',
    ],
    [
      'a call id twice',
      body([start, call('a'), output('a'), { ...call('a'), id: 'fc_2' }, output('a')]),
      'duplicate call_id',
    ],
    [
      'an item id twice',
      body([start, call('a'), output('a'), { ...call('b'), id: 'fc_a' }, output('b')]),
      'duplicate item',
    ],
    ['a call without an id', body([start, { ...call('a'), call_id: '' }, output('')]), 'call_id: field required'],
    ['a call of a name with a dot', body([start, { ...call('a'), name: 'a.b' }, output('a')]), 'name does not match'],
    ['arguments as an object', body([start, { ...call('a'), arguments: {} }, output('a')]), 'arguments must be'],
    [
      'an output without a content',
      body([start, call('a'), { ...output('a'), output: null }]),
      'output: field required',
    ],
    ['reasoning without its item', body([start, reasoning('rs_1'), start]), 'without its required following item'],
    ['reasoning at the end', body([start, reasoning('rs_1')]), 'without its required following item'],
    ['reasoning without a summary', body([start, { ...reasoning('rs_1'), summary: undefined }, said]), 'summary'],
    [
      'changed encrypted reasoning',
      body([start, { ...reasoning('rs_1'), encrypted_content: 'x' }, said]),
      'could not be verified',
    ],
  ])('refuse %s', (_what, request, rule) => {
    expect(openAiResponsesRequestFaults(request).join('\n')).toContain(rule)
  })

  it('refuse an item of a reply without the reasoning before it', () => {
    const replies = new OpenAiReplies()
    replies.issue([reasoning('rs_1'), call('a'), call('b')])
    const kept = body([start, reasoning('rs_1'), call('a'), call('b'), output('a'), output('b')])
    expect(replies.faults(kept)).toEqual([])
    expect(replies.faults(body([start, call('a'), call('b'), output('a'), output('b')])).join()).toContain("'rs_1'")
  })
})
