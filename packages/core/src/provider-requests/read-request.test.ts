import { describe, expect, test } from 'vitest'
import { RequestReader, readEntryAt } from './read-request.js'

const bytes = (value: unknown) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value))
const read = (protocol: Parameters<RequestReader['read']>[0], value: unknown) =>
  new RequestReader().read(protocol, bytes(value))

describe('a request', () => {
  test('is read into entries whose bytes are those of the body', () => {
    const body = bytes(
      '{ "model":"m", "messages" : [ {"role":"user","content":"a\\"]}"} ,{"role":"assistant","content":[]}]}\n',
    )
    const request = new RequestReader().read('anthropic', body)
    const texts = request?.entries.map(({ from, to }) => body.subarray(from, to).toString())
    expect(texts).toEqual(['{"role":"user","content":"a\\"]}"}', '{"role":"assistant","content":[]}'])
  })

  test('has the same hashes wherever a client puts its cache marks, and however it spells one text', () => {
    const plain = read('anthropic', { model: 'm', messages: [{ role: 'user', content: 'hello' }] })
    const marked = read('anthropic', {
      model: 'm',
      messages: [{ role: 'user', content: [{ type: 'text', text: 'hello', cache_control: { type: 'ephemeral' } }] }],
    })
    expect(marked?.entries[0]?.chain).toBe(plain?.entries[0]?.chain)
    expect(marked?.entries[0]?.cacheMarks).toBe(1)
  })

  test('keeps arguments of a tool that are named like a mark', () => {
    const call = (input: object) =>
      read('anthropic', {
        messages: [{ role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'n', input }] }],
      })
    expect(call({ cache_control: 1 })?.entries[0]?.hash).not.toBe(call({})?.entries[0]?.hash)
  })

  test.each([
    ['no JSON', '{"model":"m","messages":[{"role":"user"'],
    ['no object', '[1]'],
    ['an entry that is no object', '{"messages":["text"]}'],
    [
      'nested deeper than can be read',
      `{"messages":[{"role":"user","content":${'['.repeat(200_000)}${']'.repeat(200_000)}}]}`,
    ],
  ])('that is not one of the protocol is left to the provider: %s', (_name, body) => {
    expect(read('anthropic', body)).toBeNull()
  })

  test.each([
    ['openai-responses', { input: 'a text' }],
    ['openai-chat', { model: 'm' }],
  ] as const)('without a list has nothing that could be replaced: %s', (protocol, body) => {
    expect(read(protocol, body)).toMatchObject({ list: null, entries: [] })
  })

  test.each([
    ['anthropic', { messages: [{ role: 'user', content: 'a' }], context_management: { edits: [] } }],
    ['anthropic', { messages: [{ role: 'assistant', content: [{ type: 'compaction', content: 'a' }] }] }],
    ['openai-responses', { input: [{ role: 'user', content: 'a' }], previous_response_id: 'resp_1' }],
    ['openai-responses', { input: [{ type: 'item_reference', id: 'rs_1' }] }],
  ] as const)('whose conversation the provider keeps is known: %s %j', (protocol, body) => {
    expect(read(protocol, body)?.isOwnedByProvider).toBe(true)
  })

  test('names calls, results and reasoning of each protocol', () => {
    const anthropic = read('anthropic', {
      messages: [
        { role: 'user', content: 'go' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'Read', input: {} }] },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'c1', content: [{ type: 'text', text: 'x'.repeat(400) }] },
            { type: 'tool_result', tool_use_id: 'c2', is_error: true, content: 'y' },
          ],
        },
      ],
    })
    expect(anthropic?.entries.map(({ kind, calls, resultIds }) => [kind, calls, resultIds])).toEqual([
      ['user', [], []],
      ['assistant', [{ id: 'c1', name: 'Read' }], []],
      ['results', [], ['c1', 'c2']],
    ])
    expect(anthropic?.entries[2]?.results).toEqual([
      { path: ['content', 0, 'content', 0, 'text'], callId: 'c1', tokens: 100 },
    ])
    const responses = read('openai-responses', {
      input: [
        { role: 'developer', content: 'be brief' },
        { role: 'user', content: 'go' },
        { type: 'reasoning', id: 'rs_1', encrypted_content: 'abc' },
        { type: 'function_call', call_id: 'c1', name: 'read', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c1', output: 'text' },
      ],
    })
    expect(responses?.entries.map(({ kind, isBoundToNext }) => [kind, isBoundToNext])).toEqual([
      ['instruction', false],
      ['user', false],
      ['assistant', true],
      ['assistant', false],
      ['results', false],
    ])
    const chat = read('openai-chat', {
      messages: [
        { role: 'system', content: 'be brief' },
        {
          role: 'assistant',
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'read', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'text' },
      ],
    })
    expect(chat?.entries.map(({ kind, calls, resultIds }) => [kind, calls.length, resultIds.length])).toEqual([
      ['instruction', 0, 0],
      ['assistant', 1, 0],
      ['results', 0, 1],
    ])
  })

  test('finds the place of each text that may be replaced', () => {
    const body = bytes({ messages: [{ role: 'tool', tool_call_id: 'c1', content: 'text' }] })
    const request = new RequestReader().read('openai-chat', body)
    expect(request && readEntryAt(request, body, 0).results).toEqual([
      { path: ['content'], callId: 'c1', text: 'text' },
    ])
  })
})
