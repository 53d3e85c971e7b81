import type { JsonObject } from '@heddle/contracts'
import { describe, expect, test } from 'vitest'
import { ChatFilter } from './chat-filter.js'

const chunk = (delta: JsonObject, finish: string | null = null) => {
  const data = JSON.stringify({ id: 'chatcmpl-1', choices: [{ index: 0, delta, finish_reason: finish }] })
  return { data, raw: `data: ${data}\n\n` }
}
const call = (index: number, id: string, name: string) =>
  chunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] })
const more = (index: number, json: string) => chunk({ tool_calls: [{ index, function: { arguments: json } }] })
const usage = {
  data: '{"choices":[],"usage":{"total_tokens":9}}',
  raw: 'data: {"choices":[],"usage":{"total_tokens":9}}\n\n',
}
const done = { data: '[DONE]', raw: 'data: [DONE]\n\n' }

function send(filter: ChatFilter, chunks: readonly { data: string; raw: string }[]): string {
  return chunks.flatMap(({ data, raw }) => filter.push(data, raw)).join('')
}

describe('a stream of chat completions', () => {
  test('without a recall passes byte for byte', () => {
    const chunks = [
      chunk({ role: 'assistant', content: '' }),
      chunk({ content: 'hello' }),
      chunk({}, 'stop'),
      usage,
      done,
    ]
    const filter = new ChatFilter()
    expect(send(filter, chunks)).toBe(chunks.map(({ raw }) => raw).join(''))
    expect(filter.endPart()).toEqual({
      recalls: [],
      isContinued: false,
      entry: { role: 'assistant', content: 'hello' },
      usage: { total_tokens: 9 },
    })
  })

  test('shows the calls of the client under positions of their own', () => {
    const filter = new ChatFilter()
    const shown = send(filter, [
      chunk({ role: 'assistant', content: null }),
      call(0, 'r1', 'heddle_recall'),
      more(0, '{"ref":"msg-abcdefgh"}'),
      call(1, 'c1', 'read'),
      more(1, '{}'),
      chunk({}, 'tool_calls'),
      done,
    ])
    expect(shown).toBe(
      [chunk({ role: 'assistant', content: null }), call(0, 'c1', 'read'), more(0, '{}'), chunk({}, 'tool_calls'), done]
        .map(({ raw }) => raw)
        .join(''),
    )
    expect(filter.endPart()).toMatchObject({
      isContinued: false,
      recalls: [{ id: 'r1', input: { ref: 'msg-abcdefgh' } }],
      entry: { tool_calls: [{ id: 'r1' }, { id: 'c1' }] },
    })
  })

  test('that waits for a recall alone does not end before the text that follows it', () => {
    const filter = new ChatFilter()
    const first = send(filter, [
      chunk({ role: 'assistant', content: '' }),
      call(0, 'r1', 'heddle_recall'),
      more(0, '{"ref":"msg-abcdefgh"}'),
      chunk({}, 'tool_calls'),
      done,
    ])
    expect(filter.endPart().isContinued).toBe(true)
    const second = send(filter, [
      chunk({ role: 'assistant', content: '' }),
      chunk({ content: 'found' }),
      chunk({}, 'stop'),
      done,
    ])
    expect(first + second).toBe(
      [chunk({ role: 'assistant', content: '' }), chunk({ content: 'found' }), chunk({}, 'stop'), done]
        .map(({ raw }) => raw)
        .join(''),
    )
  })
})
