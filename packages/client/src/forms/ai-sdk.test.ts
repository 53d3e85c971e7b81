import { expect, test } from 'vitest'
import { readAppend } from '../calls/append-input.js'

const read = (...messages: unknown[]) => readAppend({ agent: 'pilot', thread: 'tides', format: 'ai-sdk', messages })
const said = (...messages: unknown[]) => read(...messages).messages.map(({ id: _, ...message }) => message)

const called = { type: 'tool-call', toolCallId: 'call_1', toolName: 'read_tide', input: { harbour: 'Hull' } }
const answered = (output: unknown) => ({ type: 'tool-result', toolCallId: 'call_1', toolName: 'read_tide', output })
const steps = [
  { role: 'assistant', content: [{ type: 'text', text: 'I look.' }, called] },
  { role: 'tool', content: [answered({ type: 'json', value: { at: 4 } })] },
  { role: 'assistant', content: [{ type: 'text', text: 'At four.' }] },
]

/** Results of the package are class instances with getters, and contain values that are not JSON. */
class GenerationResult {
  get response() {
    return { id: 'chatcmpl-9', modelId: 'gpt-5', timestamp: new Date(0), headers: new Headers(), messages: steps }
  }
  get usage() {
    return { inputTokens: 500, outputTokens: 20, totalTokens: 520, cachedInputTokens: 400, reasoningTokens: undefined }
  }
  get providerMetadata() {
    return undefined
  }
}

test('the result of a generation becomes the messages of its steps, and the last one has the usage', () => {
  const messages = said(new GenerationResult())
  expect(messages).toEqual([
    {
      role: 'assistant',
      content: 'I look.',
      toolCalls: [{ id: 'call_1', name: 'read_tide', arguments: { harbour: 'Hull' } }],
      sourceId: 'chatcmpl-9#0',
      model: 'gpt-5',
    },
    { role: 'tool_result', content: '{"at":4}', toolCallId: 'call_1', toolName: 'read_tide', sourceId: 'chatcmpl-9#1' },
    {
      role: 'assistant',
      content: 'At four.',
      sourceId: 'chatcmpl-9#2',
      model: 'gpt-5',
      usage: { inputTokens: 100, cacheReadTokens: 400, outputTokens: 20 },
    },
  ])
  expect(said(new GenerationResult().response)).toMatchObject(messages.map(({ usage: _, ...message }) => message))
})

test('model messages are read part by part, with reasoning that Anthropic signed or encrypted', () => {
  const signed = { type: 'reasoning', text: 'Tide.', providerOptions: { anthropic: { signature: 's1' } } }
  const hidden = { type: 'reasoning', text: '', providerOptions: { anthropic: { redactedData: 'r1' } } }
  const others = { type: 'reasoning', text: 'Hm.', providerOptions: { openai: { itemId: 'rs_1' } } }
  expect(
    said(
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: [{ type: 'text', text: 'When?' }] },
      { role: 'assistant', content: [signed, hidden, others, { type: 'text', text: 'I look.' }] },
      { role: 'assistant', content: 'At four.' },
    ),
  ).toEqual([
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'When?' },
    {
      role: 'assistant',
      content: 'I look.',
      thinking: [{ text: 'Tide.', signature: 's1' }, { text: '', redacted: 'r1' }, { text: 'Hm.' }],
      metadata: { reasoning: [{ providerOptions: { openai: { itemId: 'rs_1' } } }] },
    },
    { role: 'assistant', content: 'At four.' },
  ])
})

test.each<[string, unknown, string, true | undefined]>([
  ['a text', { type: 'text', value: 'at four' }, 'at four', undefined],
  ['a value', { type: 'json', value: 'four' }, '"four"', undefined],
  ['an error', { type: 'error-text', value: 'no harbour' }, 'no harbour', true],
  ['an error that is a value', { type: 'error-json', value: { code: 4 } }, '{"code":4}', true],
  [
    'parts',
    {
      type: 'content',
      value: [
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ],
    },
    'a\n\nb',
    undefined,
  ],
  ['a refusal of a person', { type: 'execution-denied', reason: 'not now' }, 'not now', true],
])('an output of %s is a result', (_, output, content, isError) => {
  const [result] = said({ role: 'tool', content: [answered(output)] })
  expect(result).toEqual({
    role: 'tool_result',
    content,
    toolCallId: 'call_1',
    toolName: 'read_tide',
    ...(isError && { isError }),
  })
})

test('images and documents become parts of their message, given as bytes or as a URL', () => {
  const png = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a)
  const jpeg = Uint8Array.of(0xff, 0xd8, 0xff, 0xe0)
  const images = [png, jpeg].map((image) => ({ type: 'image', image }))
  const file = { type: 'file', data: new URL('https://example.org/a.pdf'), mediaType: 'application/pdf' }
  const [message] = said({ role: 'user', content: [{ type: 'text', text: 'See' }, ...images, file] })
  expect(message?.content).toBe('See')
  expect(message?.parts).toEqual([
    { type: 'image', mediaType: 'image/png', data: Buffer.from(png).toString('base64'), offset: 3 },
    { type: 'image', mediaType: 'image/jpeg', data: Buffer.from(jpeg).toString('base64'), offset: 3 },
    { type: 'document', mediaType: 'application/pdf', url: 'https://example.org/a.pdf', offset: 3 },
  ])
})

test('images in the output of a tool become parts of its result', () => {
  const value = [
    { type: 'text', text: 'taken' },
    { type: 'media', data: 'iVBORw0KGgo=', mediaType: 'image/png' },
  ]
  const [message] = said({ role: 'tool', content: [answered({ type: 'content', value })] })
  expect(message?.content).toBe('taken')
  expect(message?.parts).toMatchObject([{ type: 'image', mediaType: 'image/png', data: 'iVBORw0KGgo=' }])
})

test.each<[string, unknown, string]>([
  ['a stream that is not read yet', { response: Promise.resolve() }, 'messages.0.response.messages'],
  ['a message of a user interface', { id: 'u1', role: 'user', parts: [] }, 'messages.0.content'],
  [
    'a call without a name',
    { role: 'assistant', content: [{ ...called, toolName: '' }] },
    'messages.0.content.0.toolName',
  ],
  ['a result without an output', { role: 'tool', content: [answered(undefined)] }, 'messages.0.content.0.output'],
  [
    'an output of another kind',
    { role: 'tool', content: [answered({ type: 'xml', value: '' })] },
    'messages.0.content.0.output.type',
  ],
  [
    'an output that is no text',
    { role: 'tool', content: [answered({ type: 'text', value: 4 })] },
    'messages.0.content.0.output.value',
  ],
  ['results that are a text', { role: 'tool', content: 'seen' }, 'messages.0.content'],
  ['a block of Anthropic', { role: 'assistant', content: [{ type: 'tool_use' }] }, 'messages.0.content.0'],
  [
    'a fault within a generation',
    { response: { id: 'r', messages: [{ role: 'assistant', content: [{ type: 'text' }] }] } },
    'messages.0.response.messages.0.content.0.text',
  ],
])('%s is refused by its path in the form that it came in', (_, entry, field) => {
  expect(() => read(entry)).toThrow(expect.objectContaining({ code: 'VALIDATION_ERROR', field }))
})
