import type { JsonObject } from '@heddle/contracts'
import { describe, expect, test } from 'vitest'
import { AnthropicFilter } from './anthropic-filter.js'
import { ServerEventReader } from './server-events.js'

const event = (value: JsonObject) => `event: ${value['type'] as string}\ndata: ${JSON.stringify(value)}\n\n`
const start = (id: string) =>
  event({ type: 'message_start', message: { id, role: 'assistant', content: [], usage: {} } })
const text = (index: number, words: string) => [
  event({ type: 'content_block_start', index, content_block: { type: 'text', text: '' } }),
  event({ type: 'content_block_delta', index, delta: { type: 'text_delta', text: words } }),
  event({ type: 'content_block_stop', index }),
]
const call = (index: number, id: string, name: string, input: JsonObject) => [
  event({ type: 'content_block_start', index, content_block: { type: 'tool_use', id, name, input: {} } }),
  ...(JSON.stringify(input).match(/.{1,4}/g) ?? []).map((partial) =>
    event({ type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json: partial } }),
  ),
  event({ type: 'content_block_stop', index }),
]
const end = (reason: string, tokens: number) => [
  event({ type: 'message_delta', delta: { stop_reason: reason }, usage: { output_tokens: tokens } }),
  event({ type: 'message_stop' }),
]

/** Sends a stream through the filter, cut into chunks of some bytes. */
function send(filter: AnthropicFilter, texts: readonly string[], bytes = 7): string[] {
  const reader = new ServerEventReader()
  const stream = Buffer.from(texts.join(''))
  const shown: string[] = []
  for (let from = 0; from < stream.length; from += bytes) {
    for (const { data, raw } of reader.push(stream.subarray(from, from + bytes))) shown.push(...filter.push(data, raw))
  }
  expect(reader.rest).toBe('')
  return shown
}

describe('a stream of messages', () => {
  test('without a recall passes byte for byte', () => {
    const stream = [
      start('msg_1'),
      event({ type: 'ping' }),
      event({ type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '' } }),
      event({ type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'hm' } }),
      event({ type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'c2ln' } }),
      event({ type: 'content_block_stop', index: 0 }),
      ...text(1, 'done ü'),
      ...call(2, 'c1', 'Read', { path: '/a' }),
      ...end('tool_use', 9),
    ]
    const filter = new AnthropicFilter()
    expect(send(filter, stream, 3).join('')).toBe(stream.join(''))
    expect(filter.endPart()).toEqual({
      recalls: [],
      isContinued: false,
      entry: {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'hm', signature: 'c2ln' },
          { type: 'text', text: 'done ü' },
          { type: 'tool_use', id: 'c1', name: 'Read', input: { path: '/a' } },
        ],
      },
      usage: { output_tokens: 9 },
    })
  })

  test('that waits for a recall alone goes on as one message', () => {
    const filter = new AnthropicFilter()
    const first = send(filter, [
      start('msg_1'),
      ...text(0, 'let me see'),
      ...call(1, 'r1', 'heddle_recall', { ref: 'msg-abcdefgh' }),
      ...end('tool_use', 10),
    ])
    expect(filter.flush()).toEqual([])
    const part = filter.endPart()
    expect(part).toMatchObject({ isContinued: true, recalls: [{ id: 'r1', input: { ref: 'msg-abcdefgh' } }] })
    const second = send(filter, [start('msg_2'), ...text(0, 'now I know'), ...end('end_turn', 5)])
    expect(filter.endPart()).toMatchObject({ isContinued: false, recalls: [] })
    expect([...first, ...second].join('')).toBe(
      [start('msg_1'), ...text(0, 'let me see'), ...text(1, 'now I know'), ...end('end_turn', 15)].join(''),
    )
  })

  test('with a recall beside two calls of the client shows those two, and ends', () => {
    const filter = new AnthropicFilter()
    const shown = send(filter, [
      start('msg_1'),
      ...call(0, 'c1', 'Read', { path: '/a' }),
      ...call(1, 'r1', 'heddle_recall', { ref: 'msg-abcdefgh' }),
      ...call(2, 'c2', 'Bash', { command: 'ls' }),
      ...end('tool_use', 10),
    ])
    expect(shown.join('')).toBe(
      [
        start('msg_1'),
        ...call(0, 'c1', 'Read', { path: '/a' }),
        ...call(1, 'c2', 'Bash', { command: 'ls' }),
        ...end('tool_use', 10),
      ].join(''),
    )
    expect(filter.endPart()).toMatchObject({ isContinued: false, recalls: [{ id: 'r1' }] })
  })

  test('passes an error of the provider', () => {
    const error = event({ type: 'error', error: { type: 'overloaded_error', message: 'busy' } })
    expect(send(new AnthropicFilter(), [start('msg_1'), error])).toEqual([start('msg_1'), error])
  })
})
