import { expect, test } from 'vitest'
import { parseSession } from './parse.js'

function read(value: unknown) {
  return parseSession(JSON.stringify(value), { fileName: 'a.json', format: 'auto' })
}

function inputsOf(value: unknown) {
  return read(value).threads.flatMap(({ messages }) => messages.map(({ input }) => input))
}

const call = (id: string, args: string) => ({ id, type: 'function', function: { name: 'book', arguments: args } })

test('a list of chat messages is read with unchanged arguments', () => {
  const broken = '{"flight": "HAT001", '
  expect(
    inputsOf([
      { role: 'developer', content: 'Be brief.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Book' },
          { type: 'text', text: 'it.' },
        ],
        name: 'mia',
      },
      { role: 'assistant', content: null, tool_calls: [call('c1', broken)] },
      { role: 'tool', tool_call_id: 'c1', content: '' },
    ]),
  ).toEqual([
    { role: 'system', content: 'Be brief.', metadata: { role: 'developer' } },
    { role: 'user', content: 'Book\n\nit.', metadata: { name: 'mia' } },
    { role: 'assistant', content: '', toolCalls: [{ id: 'c1', name: 'book', arguments: broken }] },
    { role: 'tool_result', content: '', toolCallId: 'c1', toolName: 'book' },
  ])
})

test('each benchmark run is a thread, named by its index', () => {
  const run = (content: string) => ({ task_id: 0, reward: 1, traj: [{ role: 'user', content }] })
  const { format, threads } = read([run('one'), run('two')])
  expect(format).toBe('openai')
  expect(threads.map(({ suffix, messages }) => [suffix, messages[0]?.input.content])).toEqual([
    ['0', 'one'],
    ['1', 'two'],
  ])
})

test('a reused call id is kept, and each result is named after the nearest call before it', () => {
  const named = (name: string) => ({ id: 'c', type: 'function', function: { name, arguments: '{}' } })
  const inputs = inputsOf({
    messages: [
      { role: 'user', content: 'Go' },
      { role: 'assistant', content: null, tool_calls: [named('first')] },
      { role: 'tool', tool_call_id: 'c', content: '1' },
      { role: 'assistant', content: null, tool_calls: [named('second')] },
      { role: 'tool', tool_call_id: 'c', content: '2' },
    ],
  })
  expect(inputs.map((input) => [input.toolCallId, input.toolName])).toEqual([
    [undefined, undefined],
    [undefined, undefined],
    ['c', 'first'],
    [undefined, undefined],
    ['c', 'second'],
  ])
})

test('the old function form is paired by name', () => {
  const inputs = inputsOf([
    { role: 'user', content: 'Go' },
    { role: 'assistant', content: null, function_call: { name: 'look', arguments: '{}' } },
    { role: 'function', name: 'look', content: 'seen' },
  ])
  expect(inputs[1]?.toolCalls?.[0]?.id).toBe(inputs[2]?.toolCallId)
  expect(inputs[2]).toMatchObject({ role: 'tool_result', toolName: 'look' })
})

test('images, files and audio are kept at their positions in the text', () => {
  const data = 'x'.repeat(5_000)
  const image = { type: 'image_url', image_url: { url: `data:image/jpeg;base64,${data}`, detail: 'low' } }
  const audio = { type: 'input_audio', input_audio: { data, format: 'mp3' } }
  const file = { type: 'file', file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${data}` } }
  const [input] = inputsOf([{ role: 'user', content: [image, { type: 'text', text: 'See' }, audio, file] }])
  expect(input?.content).toBe('See')
  expect(input?.parts).toEqual([
    { type: 'image', mediaType: 'image/jpeg', data, detail: 'low', offset: 0 },
    { type: 'audio', mediaType: 'audio/mpeg', data, offset: 3 },
    { type: 'document', mediaType: 'application/pdf', data, name: 'a.pdf', offset: 3 },
  ])
})

test('parts that cannot be read leave a marker and are kept whole', () => {
  const image = { type: 'image_url', image_url: { url: 'data:image/jpeg,not base64' } }
  const video = { type: 'video_url', video_url: { url: 'https://example.com/a.mp4' } }
  const [input] = inputsOf([{ role: 'user', content: [{ type: 'text', text: 'See' }, image, video] }])
  expect(input?.content).toBe('See\n\n[image_url: image/jpeg]\n\n[video_url]')
  expect(input?.metadata).toEqual({ blocks: [image, video] })
})

test('a refusal does not displace the parts beside it', () => {
  const part = { type: 'weird', value: 1 }
  expect(inputsOf([{ role: 'assistant', content: [part], refusal: 'No.' }])[0]?.metadata).toEqual({
    blocks: [part],
    refusal: true,
  })
})

test.each([
  [{ question: 'Why?' }, 'an object'],
  [42, '42'],
])('a content that is neither text nor list is refused: %j', (content, received) => {
  const refused = () =>
    inputsOf([
      { role: 'user', content: 'Go' },
      { role: 'assistant', content, refusal: 'No.' },
    ])
  expect(refused).toThrow(
    expect.objectContaining({
      code: 'VALIDATION_ERROR',
      field: '1',
      received,
      message: 'a.json: 1: content: must be a text, a list of blocks or null',
    }),
  )
})

test('a refusal and reasoning are read where providers put them', () => {
  expect(
    inputsOf([
      { role: 'assistant', content: null, refusal: 'No.' },
      { role: 'assistant', content: 'Yes.', reasoning_content: 'Hm.' },
    ]),
  ).toEqual([
    { role: 'assistant', content: 'No.', metadata: { refusal: true } },
    { role: 'assistant', content: 'Yes.', thinking: [{ text: 'Hm.' }] },
  ])
})

test('one message per line is read as one thread, one conversation per line as a thread each', () => {
  const lines = (values: unknown[]) =>
    parseSession(values.map((value) => JSON.stringify(value)).join('\n'), { fileName: 'a.jsonl', format: 'openai' })
  const messages = [
    { role: 'user', content: 'Go' },
    { role: 'assistant', content: 'Done.' },
  ]
  expect(lines(messages).threads).toMatchObject([{ suffix: null, messages: [{}, {}] }])
  expect(lines([{ messages }, { messages }]).threads).toMatchObject([{ suffix: '0' }, { suffix: '1' }])
})

test('messages without ids have identities that are the same each time the file is read, and that never collide', () => {
  const messages = [
    { role: 'user', content: 'Go' },
    { role: 'user', content: 'Go' },
  ]
  const identities = read(messages).threads[0]?.messages.map(({ identity }) => identity) ?? []
  expect(new Set(identities).size).toBe(2)
  expect(read([...messages, { role: 'assistant', content: 'Done.' }]).threads[0]?.messages.slice(0, 2)).toMatchObject(
    identities.map((identity) => ({ identity })),
  )
})
