import { limits } from '@heddle/contracts'
import { expect, test } from 'vitest'
import { type ByteSource, bytesOf } from './byte-source.js'
import { readSession, type Session } from './session.js'

const chat = (index: number) => ({
  role: index % 2 === 0 ? 'user' : 'assistant',
  content: `${index} ${'word '.repeat(80)}`,
})
const MESSAGES = 4_000

const documents = {
  'a list over many lines': (list: string) => `[${list}]`,
  'an object on one line': (list: string) => `{"messages":[${list}]}`,
  'an object whose prompt comes last': (list: string) => `{"messages":[${list}],"system":"Be brief."}`,
  'runs of a benchmark': (list: string) => `[{"task":1,"traj":[${list}]},{"task":2,"traj":[${list}]}]`,
  'a trajectory beside what nobody needs': (list: string) => `{"trajectory":[${list}],"history":[${list}]}`,
  'a line that is a conversation': (list: string) => `{"messages":[${list}]}\n{"messages":[${list}]}`,
}

/** Records the largest read of a file. */
function watched(text: string): { source: ByteSource; largest: () => number } {
  const bytes = bytesOf(text)
  let largest = 0
  const read = (from: number, to: number) => {
    largest = Math.max(largest, to - from)
    return bytes.read(from, to)
  }
  return { source: { size: bytes.size, read }, largest: () => largest }
}

function looked(source: ByteSource): Session {
  const look = readSession(source, { fileName: 'session', format: 'auto' })
  for (let step = look.next(); ; step = look.next()) if (step.done === true) return step.value
}

test.each(Object.entries(documents))('%s is read message by message, never as a whole', (_, document) => {
  const list = Array.from({ length: MESSAGES }, (_, index) => JSON.stringify(chat(index))).join(',\n')
  const text = document(
    _ === 'an object on one line' || _ === 'a line that is a conversation' ? list.replaceAll('\n', '') : list,
  )
  const { source, largest } = watched(text)
  const session = looked(source)
  for (const { number, messages } of session.threads) {
    expect(messages - (session.format === 'anthropic' ? 1 : 0)).toBe(MESSAGES)
    let index = session.format === 'anthropic' ? -1 : 0
    for (const { thread, message } of session.messages()) {
      if (thread !== number) continue
      expect(message.input.content).toBe(index < 0 ? 'Be brief.' : chat(index).content)
      index++
    }
    expect(index).toBe(MESSAGES)
  }
  expect(text.length).toBeGreaterThan(1_500_000)
  expect(largest()).toBeLessThanOrEqual(256 * 1_024)
})

test('records of one message of Claude Code are joined, however far apart they are', () => {
  const record = (uuid: string, role: string, fields: object) =>
    JSON.stringify({ type: role, uuid, sessionId: 's', message: { role, ...fields } })
  const between = Array.from({ length: 5_000 }, (_, index) => record(`u${index}`, 'user', { content: `${index}` }))
  const text = [
    record('a1', 'assistant', { id: 'm', content: [{ type: 'text', text: 'One.' }] }),
    ...between,
    record('a2', 'assistant', { id: 'm', content: [{ type: 'text', text: 'Two.' }] }),
  ].join('\n')
  const { source, largest } = watched(text)
  const contents = [...looked(source).messages()].map(({ message }) => message.input.content)
  expect(contents.slice(0, 2)).toEqual(['One.\n\nTwo.', '0'])
  expect(contents).toHaveLength(5_001)
  expect(largest()).toBeLessThanOrEqual(256 * 1_024)
})

test('a line that is too long for a message is refused by its size, unread', () => {
  const start = Buffer.from('{"role":"user","content":"Go"}\n{"role":"user","content":"')
  const size = limits.messageJsonCharactersMax + 10_000_000
  const endsAt = size - 2
  let largest = 0
  const read = (from: number, to: number) => {
    largest = Math.max(largest, to - from)
    const bytes = Buffer.alloc(to - from, 'x')
    if (from < start.length) start.copy(bytes, 0, from, Math.min(to, start.length))
    if (to > endsAt) Buffer.from('"}').copy(bytes, Math.max(0, endsAt - from), Math.max(0, from - endsAt))
    return bytes
  }
  expect(() => looked({ size, read })).toThrow(expect.objectContaining({ code: 'PAYLOAD_TOO_LARGE', field: 'line 2' }))
  expect(largest).toBeLessThanOrEqual(1_024 * 1_024)
})
