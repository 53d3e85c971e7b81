import type { Role } from '@heddle/contracts'
import { CHUNK_CHARACTERS_MAX, type Message } from '@heddle/core'
import { embedderLimits } from '@heddle/models'
import { expect, test } from 'vitest'
import { MESSAGE_CHUNKS_MAX, MESSAGES_PER_BATCH_MAX, RESULT_CHUNKS_MAX } from './limits.js'
import { changedSources, sourceOf } from './sources.js'

function message(role: Role, content: string, fields: Partial<Message> = {}): Message {
  return {
    id: '0192f0c0-0000-7000-8000-000000000001',
    seq: 1,
    code: 'aaaaaaaa',
    role,
    content,
    thinking: [],
    toolCalls: [],
    toolCallId: null,
    toolName: null,
    isError: false,
    orderedAtMs: 0,
    ordinal: 0,
    model: null,
    usage: null,
    pinned: false,
    keptAside: null,
    contextId: null,
    tokens: 1,
    tokensExact: true,
    ...fields,
  }
}

const textsOf = (of: Message) => sourceOf(of)?.chunks.map(({ text }) => text)
const long = 'A sentence of words that goes on for a while. '.repeat(20_000)

test('texts of users and assistants and the beginnings of tool results are embedded', () => {
  for (const role of ['user', 'assistant', 'tool_use', 'tool_result'] as const) {
    expect(textsOf(message(role, ' The build failed. '))).toEqual(['The build failed.'])
  }
})

test('what never enters a context, and what has no text, is not embedded', () => {
  for (const role of ['system', 'error', 'approval'] as const) expect(sourceOf(message(role, 'text'))).toBeNull()
  expect(sourceOf(message('assistant', 'a summary', { keptAside: 'compact-summary' }))).toBeNull()
  expect(sourceOf(message('assistant', ' \n'))).toBeNull()
})

test('a long text has as many chunks as its role allows, and they are ranges of the message', () => {
  expect(sourceOf(message('user', long))?.chunks.length).toBe(MESSAGE_CHUNKS_MAX)
  const result = sourceOf(message('tool_result', long))
  expect(result?.chunks.length).toBe(RESULT_CHUNKS_MAX)
  for (const { from, to, text } of result?.chunks ?? []) expect(long.slice(from, to)).toBe(text)
})

test('a batch of the longest messages is one call to the embedder', () => {
  expect(MESSAGES_PER_BATCH_MAX * MESSAGE_CHUNKS_MAX).toBeLessThanOrEqual(embedderLimits.textsMax)
  expect(CHUNK_CHARACTERS_MAX).toBeLessThanOrEqual(embedderLimits.textCharactersMax)
})

test('a source is embedded again only when its text is another one', () => {
  const source = sourceOf(message('user', 'one'))
  const other = sourceOf(message('user', 'two'))
  if (source === null || other === null) throw new Error('both have texts')
  expect(changedSources([source], new Map())).toEqual([source])
  expect(changedSources([source], new Map([[source.messageId, Buffer.from(source.contentHash)]]))).toEqual([])
  expect(changedSources([source], new Map([[source.messageId, other.contentHash]]))).toEqual([source])
})
