import type { Role } from '@heddle/contracts'
import { expect, test } from 'vitest'
import { sampleMessage } from '../../../../test/support/src/samples/conversations.js'
import type { Message } from '../conversation/message.js'
import { MESSAGE_CHUNKS_MAX, RESULT_CHUNKS_MAX, sourceOf } from './sources.js'

const message = (role: Role, content: string, fields: Partial<Message> = {}): Message =>
  sampleMessage({ seq: 1, role, content, ...fields })

const textsOf = (of: Message) => sourceOf(of)?.chunks.map(({ text }) => text)
const long = 'A sentence of words that goes on for a while. '.repeat(20_000)

test('texts of users and assistants and the beginnings of tool results are embedded', () => {
  for (const role of ['user', 'assistant', 'tool_use', 'tool_result'] as const) {
    expect(textsOf(message(role, ' The build failed. '))).toEqual(['The build failed.'])
  }
})

test('messages that never enter a context or have no text are not embedded', () => {
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
