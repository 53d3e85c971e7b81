import { expect, test } from 'vitest'
import { parseSession } from './parse.js'

let records = 0

function record(type: string, fields: object) {
  records++
  return {
    type,
    uuid: `u${records}`,
    sessionId: 's',
    timestamp: `2026-02-04T03:46:${String(records % 60).padStart(2, '0')}Z`,
    ...fields,
  }
}

const user = (content: unknown, fields: object = {}) =>
  record('user', { message: { role: 'user', content }, ...fields })

const assistant = (id: string, block: unknown, fields: object = {}) =>
  record('assistant', {
    message: { role: 'assistant', id, model: 'claude', content: [block], usage: { output_tokens: records } },
    ...fields,
  })

const call = (id: string, name = 'Read') => ({ type: 'tool_use', id, name, input: { file_path: `${id}.ts` } })
const answer = (id: string, content: unknown, isError?: boolean) => ({
  type: 'tool_result',
  tool_use_id: id,
  content,
  ...(isError !== undefined && { is_error: isError }),
})
const text = (value: string) => ({ type: 'text', text: value })

function read(...lines: readonly object[]) {
  return parseSession(lines.map((line) => JSON.stringify(line)).join('\n'), { fileName: 'a.jsonl', format: 'auto' })
}

function messagesOf(...lines: readonly object[]) {
  const [thread] = read(...lines).threads
  return (thread?.messages ?? []).map((message) => message.input)
}

test('records of one message id become one message at the position of the first, even with results between them', () => {
  const lines = [
    user('Go'),
    assistant('m1', { type: 'thinking', thinking: 'Two files.', signature: 'sig' }),
    assistant('m1', text('Reading.')),
    assistant('m1', call('a')),
    user([answer('a', 'A')]),
    assistant('m1', call('b', 'Grep')),
    user([answer('b', 'B')]),
    assistant('m2', text('Done.')),
  ]
  const { format, threads } = read(...lines)
  expect(format).toBe('claude-code')
  expect(threads).toMatchObject([{ suffix: null, toolCalls: 2, toolResults: 2 }])
  const messages = threads[0]?.messages ?? []
  expect(messages.map(({ input }) => input.role)).toEqual([
    'user',
    'assistant',
    'tool_result',
    'tool_result',
    'assistant',
  ])
  expect(messages[1]).toMatchObject({
    identity: 'm1',
    input: {
      sourceId: 'm1',
      content: 'Reading.',
      thinking: [{ text: 'Two files.', signature: 'sig' }],
      toolCalls: [
        { id: 'a', name: 'Read', arguments: { file_path: 'a.ts' } },
        { id: 'b', name: 'Grep', arguments: { file_path: 'b.ts' } },
      ],
      model: 'claude',
      sentAt: lines[1] && 'timestamp' in lines[1] ? lines[1].timestamp : '',
      usage: (lines[5] as unknown as { message: { usage: object } }).message.usage,
    },
  })
  expect(messages[3]?.input).toMatchObject({ toolCallId: 'b', toolName: 'Grep', content: 'B' })
})

test('texts of one message are joined by an empty line', () => {
  expect(messagesOf(user('Go'), assistant('m1', text('One.')), assistant('m1', text('Two.')))[1]?.content).toBe(
    'One.\n\nTwo.',
  )
})

test('a user record with results becomes one message per result, then one with its texts', () => {
  const messages = read(user('Go'), assistant('m1', call('a')), assistant('m1', call('b')), {
    ...user([answer('a', 'A'), text('Stop!'), answer('b', [text('B1'), text('B2')], true)]),
    uuid: 'u',
  }).threads[0]?.messages.slice(2)
  expect(messages).toMatchObject([
    { identity: 'u#0', input: { role: 'tool_result', content: 'A', toolCallId: 'a', sourceId: 'u#0' } },
    { identity: 'u#2', input: { role: 'tool_result', content: 'B1\n\nB2', toolCallId: 'b', isError: true } },
    { identity: 'u#1', input: { role: 'user', content: 'Stop!' } },
  ])
  expect(messages?.[0]?.input).not.toHaveProperty('isError')
})

test('an image in a result is kept at its position in the text', () => {
  const data = 'x'.repeat(5_000)
  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data } }
  const answered = user([answer('a', [text('Shot:'), image, text('as asked')])])
  const [, , result] = messagesOf(user('Go'), assistant('m1', call('a')), answered)
  expect(result?.content).toBe('Shot:\n\nas asked')
  expect(result?.parts).toEqual([{ type: 'image', mediaType: 'image/png', data, offset: 5 }])
  expect(result?.metadata).toBeUndefined()
})

test('an image that cannot be read leaves a marker in the text and is kept whole beside it', () => {
  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'cut…' } }
  const [, , result] = messagesOf(user('Go'), assistant('m1', call('a')), user([answer('a', [text('Shot:'), image])]))
  expect(result?.content).toBe('Shot:\n\n[image: image/png]')
  expect(result?.metadata).toEqual({ blocks: [image] })
})

test("a compaction's summary is kept aside and a meta record becomes a marked user message", () => {
  expect(
    messagesOf(user('Go'), user('Summary', { isCompactSummary: true }), user('Skill', { isMeta: true })),
  ).toMatchObject([
    { content: 'Go' },
    { content: 'Summary', keptAside: 'compact-summary' },
    { content: 'Skill', metadata: { isMeta: true } },
  ])
})

test('records that are not messages are counted by type and subtype', () => {
  const { skipped } = read(
    { type: 'summary', summary: 'x', leafUuid: 'l' },
    record('system', { subtype: 'turn_duration' }),
    record('system', { subtype: 'turn_duration' }),
    record('system', { subtype: 'compact_boundary', content: 'Conversation compacted' }),
    record('file-history-snapshot', {}),
    user([]),
    user('Go'),
  )
  expect(skipped).toEqual({
    summary: 1,
    'system/turn_duration': 2,
    'system/compact_boundary': 1,
    'file-history-snapshot': 1,
    'user/empty': 1,
  })
})

test('a record that occurs twice in a file is one message', () => {
  const repeated = user('Go')
  const { threads, skipped } = read(repeated, repeated)
  expect(threads[0]?.messages).toHaveLength(1)
  expect(skipped).toEqual({ 'user/repeated': 1 })
})

test('a copy that differs only in its session and field order is a repeat', () => {
  const first = { ...user('Go'), sessionId: 's1' }
  const copy = Object.fromEntries(Object.entries({ ...first, sessionId: 's2' }).reverse())
  expect(read(first, copy)).toMatchObject({ threads: [{ messages: [{}] }], skipped: { 'user/repeated': 1 } })
})

test('another message with a used uuid is refused, and both lines are named', () => {
  const first = user('Go')
  expect(() => read(first, user('Wait'), { ...user('Stop'), uuid: first.uuid })).toThrow(
    'a.jsonl: line 3: uuid is also that of another message at line 1',
  )
  expect(() => read(first, { ...first, isCompactSummary: true })).toThrow(/line 2: uuid .* at line 1/)
})

test('blocks of unknown types are kept whole', () => {
  const search = { type: 'server_tool_use', id: 'srv1', name: 'web_search', input: { query: 'q'.repeat(1_000) } }
  expect(messagesOf(user('Go'), assistant('m1', text('Searching.')), assistant('m1', search))[1]).toMatchObject({
    content: 'Searching.\n\n[server_tool_use]',
    metadata: { blocks: [search] },
  })
})

test.each([{ question: 'Why?' }, 42, true])('a content that is neither text nor list is refused: %j', (content) => {
  const asked = assistant('m1', call('a'))
  const replied = record('assistant', { message: { role: 'assistant', id: 'm1', content } })
  expect(() => read(user('Go'), user(content))).toThrow(/^a\.jsonl: line 2: content: must be a text, a list of blocks/)
  expect(() => read(user('Go'), asked, replied)).toThrow(/line 3: content: must be/)
  expect(() => read(user('Go'), asked, user([answer('a', content)]))).toThrow(/line 3: content: must be/)
})

test('each subagent has a thread of its own', () => {
  const root = user('Look into it', { isSidechain: true, parentUuid: null })
  const { threads } = read(
    user('Go'),
    root,
    assistant('s1', text('Found.'), { isSidechain: true, parentUuid: root.uuid }),
    user('Another', { isSidechain: true, parentUuid: null }),
    user('A third', { isSidechain: true, agentId: 'f00' }),
    assistant('m1', text('Done.')),
  )
  expect(threads.map(({ suffix, messages }) => [suffix, messages.map(({ input }) => input.content)])).toEqual([
    [null, ['Go', 'Done.']],
    ['sidechain-1', ['Look into it', 'Found.']],
    ['sidechain-2', ['Another']],
    ['agent-f00', ['A third']],
  ])
})

test("a subagent's own file is one thread without a suffix", () => {
  expect(read(user('Look', { isSidechain: true, agentId: 'f00' })).threads).toMatchObject([{ suffix: null }])
})

test('redacted reasoning is kept', () => {
  expect(messagesOf(user('Go'), assistant('m1', { type: 'redacted_thinking', data: 'enc' }))[1]?.thinking).toEqual([
    { text: '', redacted: 'enc' },
  ])
})

test('the working directory is recorded when it changes', () => {
  const inside = (cwd: string) => ({ cwd })
  const messages = messagesOf(
    user('Go', inside('/repo')),
    assistant('m1', call('a'), inside('/repo')),
    user([answer('a', 'A')], inside('/repo/src')),
    user('On', inside('/repo/src')),
  )
  expect(messages.map(({ metadata }) => metadata?.['cwd'])).toEqual(['/repo', undefined, '/repo/src', undefined])
})
