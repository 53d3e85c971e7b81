import { expect, test } from 'vitest'
import { parseSession } from '../parse.js'
import type { SessionFormat } from '../parsed.js'

/** Reads a file twice: a second import must give the same ids. */
function read(text: string, format: SessionFormat, asked: SessionFormat | 'auto' = 'auto') {
  const parse = () => parseSession(text, { fileName: 'session', format: asked })
  const file = parse()
  expect(file.format).toBe(format)
  const identities = (of: typeof file) => of.threads.flatMap(({ messages }) => messages.map(({ identity }) => identity))
  expect(identities(parse())).toEqual(identities(file))
  expect(new Set(identities(file)).size).toBe(identities(file).length)
  const inputs = file.threads.flatMap(({ messages }) => messages.map(({ input }) => input))
  return {
    inputs,
    skipped: file.skipped,
    toolCalls: file.threads[0]?.toolCalls,
    toolResults: file.threads[0]?.toolResults,
  }
}

const lines = (records: readonly object[]) => records.map((record) => JSON.stringify(record)).join('\n')
const created = Date.parse('2026-03-01T10:00:00.000Z')

test('an export of OpenCode has words, calls with their results, failed calls, and its own summaries aside', () => {
  const part = (id: string, type: string, more: object) => ({ id, type, messageID: 'm', sessionID: 's', ...more })
  const user = { id: 'msg_1', role: 'user', time: { created }, agent: 'build' }
  const reply = {
    id: 'msg_2',
    role: 'assistant',
    time: { created },
    modelID: 'claude-sonnet-5',
    providerID: 'anthropic',
  }
  const time = { start: created, end: created + 1_000 }
  const completed = {
    status: 'completed',
    input: { filePath: 'a.ts' },
    output: 'the file',
    title: '',
    metadata: {},
    time,
  }
  const failed = { status: 'error', input: { command: 'ls' }, error: 'denied', time }
  const running = { status: 'running', input: {}, time: { start: created } }
  const messages = [
    {
      info: user,
      parts: [part('p1', 'text', { text: 'Fix it.' }), part('p2', 'text', { text: 'Called Read', synthetic: true })],
    },
    {
      info: reply,
      parts: [
        part('p3', 'step-start', {}),
        part('p4', 'text', { text: 'I will.', time }),
        part('p5', 'tool', { callID: 'call_1', tool: 'read', state: completed }),
        part('p6', 'tool', { callID: 'call_2', tool: 'bash', state: failed }),
        part('p7', 'tool', { callID: 'call_3', tool: 'bash', state: running }),
      ],
    },
    { info: { ...reply, id: 'msg_3', summary: true }, parts: [part('p8', 'text', { text: 'A summary.', time })] },
  ]
  const text = JSON.stringify({ info: { id: 'ses_1', title: 'Fix' }, messages }, null, 2)
  const { inputs, skipped } = read(text, 'opencode')
  expect(inputs).toMatchObject([
    { role: 'user', content: 'Fix it.', sourceId: 'p1', sentAt: '2026-03-01T10:00:00.000Z' },
    { role: 'assistant', content: 'I will.', model: 'claude-sonnet-5', sentAt: '2026-03-01T10:00:01.000Z' },
    { role: 'tool_use', toolCalls: [{ id: 'call_1', name: 'read', arguments: { filePath: 'a.ts' } }] },
    { role: 'tool_result', toolCallId: 'call_1', toolName: 'read', content: 'the file' },
    { role: 'tool_use', toolCalls: [{ id: 'call_2', name: 'bash' }] },
    { role: 'tool_result', toolCallId: 'call_2', content: 'denied', isError: true },
    { role: 'tool_use', toolCalls: [{ id: 'call_3' }] },
    { role: 'assistant', content: 'A summary.', keptAside: 'compact-summary' },
  ])
  expect(skipped).toEqual({ 'part/step-start': 1, 'part/synthetic': 1 })
})

test('a message of OpenCode without parts is named', () => {
  const messages = [{ info: { role: 'user' }, parts: [] }, { info: { role: 'user' } }]
  expect(() => read(JSON.stringify({ messages }), 'opencode')).toThrow(/messages\.1.*parts/)
})

const called = (more: object) => ({
  id: 'read_file-1',
  name: 'read_file',
  args: { path: 'a.ts' },
  timestamp: '2026-03-01T10:00:02.000Z',
  ...more,
})
const chat = [
  { id: 'm1', timestamp: '2026-03-01T10:00:00.000Z', type: 'user', content: [{ text: 'Fix it.' }] },
  { id: 'm2', timestamp: '2026-03-01T10:00:00.000Z', type: 'info', content: 'Update available' },
  {
    id: 'm3',
    timestamp: '2026-03-01T10:00:01.000Z',
    type: 'gemini',
    content: 'I will.',
    model: 'gemini-3-pro',
    thoughts: [{ subject: 'Reading', description: 'the file', timestamp: '2026-03-01T10:00:01.000Z' }],
    tokens: { input: 120, output: 10, cached: 100, thoughts: 5, total: 135 },
    toolCalls: [
      called({
        status: 'success',
        result: [{ functionResponse: { id: 'read_file-1', name: 'read_file', response: { output: 'the file' } } }],
      }),
      called({
        id: 'shell-2',
        name: 'run_shell_command',
        status: 'error',
        result: [{ functionResponse: { response: { error: 'denied' } } }],
      }),
    ],
  },
]
const session = {
  sessionId: 'a',
  projectHash: 'b',
  startTime: '2026-03-01T10:00:00.000Z',
  lastUpdated: '2026-03-01T10:00:02.000Z',
}

test('a chat of Gemini CLI has words, thoughts, usage and calls with their results, as one object and as lines', () => {
  const whole = read(JSON.stringify({ ...session, messages: chat }), 'gemini-cli')
  expect(whole.inputs).toMatchObject([
    { role: 'user', content: 'Fix it.', sourceId: 'm1', sentAt: '2026-03-01T10:00:00.000Z' },
    {
      role: 'assistant',
      content: 'I will.',
      model: 'gemini-3-pro',
      thinking: [{ text: 'Reading\nthe file' }],
      usage: { inputTokens: 20, cacheReadTokens: 100, outputTokens: 15, reasoningTokens: 5 },
    },
    { role: 'tool_use', toolCalls: [{ id: 'read_file-1', name: 'read_file', arguments: { path: 'a.ts' } }] },
    { role: 'tool_result', toolCallId: 'read_file-1', content: 'the file' },
    { role: 'tool_use', toolCalls: [{ id: 'shell-2' }] },
    { role: 'tool_result', toolCallId: 'shell-2', content: 'denied', isError: true },
  ])
  expect(whole.skipped).toEqual({ info: 1 })
  // A message is written again when its calls have results.
  const { toolCalls: _, ...begun } = chat[2] as { toolCalls: unknown }
  const written = read(lines([session, chat[0] ?? {}, begun, ...chat.slice(1)]), 'gemini-cli')
  expect(written.inputs).toEqual(whole.inputs)
  expect(written.skipped).toEqual({ 'message/repeated': 1, info: 1 })
})

test('a session of Continue has words, thoughts, images and calls with their results', () => {
  const toolCalls = [
    { id: 'call_1', type: 'function', function: { name: 'read_file', arguments: '{"filepath":"a.ts"}' } },
  ]
  const state = { toolCallId: 'call_2', status: 'done', output: [{ name: 'out', description: '', content: 'listed' }] }
  const history = [
    { message: { role: 'user', content: [{ type: 'text', text: 'Fix it.' }] }, contextItems: [] },
    { message: { role: 'thinking', content: 'Let me look.', signature: 'c2ln' }, contextItems: [] },
    { message: { role: 'assistant', content: 'I will.', toolCalls }, contextItems: [] },
    { message: { role: 'tool', content: 'the file', toolCallId: 'call_1' }, contextItems: [] },
    {
      message: { role: 'assistant', content: '', toolCalls: [{ ...toolCalls[0], id: 'call_2' }] },
      contextItems: [],
      toolCallStates: [state],
    },
  ]
  const { inputs } = read(JSON.stringify({ sessionId: 'a', title: 'Fix', history }), 'continue')
  expect(inputs).toMatchObject([
    { role: 'user', content: 'Fix it.' },
    { role: 'assistant', thinking: [{ text: 'Let me look.', signature: 'c2ln' }], toolCalls: [{ id: 'call_1' }] },
    { role: 'tool_result', toolCallId: 'call_1', toolName: 'read_file', content: 'the file' },
    { role: 'assistant', toolCalls: [{ id: 'call_2' }] },
    { role: 'tool_result', toolCallId: 'call_2', content: 'listed' },
  ])
})

const stream = [
  { type: 'system', subtype: 'init', session_id: 's', model: 'gpt-5', cwd: '/repo', permissionMode: 'default' },
  { type: 'user', message: { role: 'user', content: [{ type: 'text', text: 'Fix it.' }] }, session_id: 's' },
  { type: 'assistant', message: { role: 'assistant', content: [{ type: 'text', text: 'I will.' }] }, session_id: 's' },
  { type: 'tool_call', subtype: 'started', call_id: 'c1', tool_call: { readToolCall: { args: { path: 'a.ts' } } } },
  {
    type: 'tool_call',
    subtype: 'completed',
    call_id: 'c1',
    tool_call: {
      readToolCall: { args: { path: 'a.ts' }, result: { success: { content: 'the file', totalLines: 1 } } },
    },
  },
  {
    type: 'tool_call',
    subtype: 'completed',
    call_id: 'c2',
    tool_call: { shellToolCall: { args: { command: 'ls' }, result: { error: { message: 'denied' } } } },
  },
  { type: 'result', subtype: 'success', is_error: false, result: 'I will.', session_id: 's' },
]

test('a stream of Cursor has words and calls with their results', () => {
  const { inputs, skipped } = read(lines(stream), 'cursor')
  expect(inputs).toMatchObject([
    { role: 'user', content: 'Fix it.' },
    { role: 'assistant', content: 'I will.', model: 'gpt-5' },
    { role: 'tool_use', toolCalls: [{ id: 'c1', name: 'read', arguments: { path: 'a.ts' } }] },
    { role: 'tool_result', toolCallId: 'c1', content: 'the file' },
    { role: 'tool_use', toolCalls: [{ id: 'c2', name: 'shell' }] },
    { role: 'tool_result', toolCallId: 'c2', content: '{"error":{"message":"denied"}}', isError: true },
  ])
  expect(skipped).toEqual({ 'system/init': 1, 'tool_call/started': 1, 'result/success': 1 })
})

test('a format whose reader would understand only a part of the file is refused, and the right one is named', () => {
  const message = { role: 'user', content: 'Fix it.' }
  const transcript = lines([{ type: 'user', uuid: 'u1', sessionId: 's1', message }])
  const refusal = (asked: string, found: string) =>
    expect.objectContaining({
      code: 'VALIDATION_ERROR',
      field: 'format',
      received: JSON.stringify(asked),
      hint: `Leave the format out, or name ${found}.`,
    })
  expect(() => read(transcript, 'cursor', 'cursor')).toThrow(refusal('cursor', 'claude-code'))
  expect(() => read(lines(stream), 'claude-code', 'claude-code')).toThrow(refusal('claude-code', 'cursor'))
  // Ids of sessions say nothing: several clients have them.
  const others = lines([{ type: 'user', message, sessionId: 's1' }])
  expect(read(others, 'cursor', 'cursor').inputs).toMatchObject([{ content: 'Fix it.' }])
  // Without a call, a stream of Cursor has no record of its own.
  const spoken = lines([{ type: 'user', message, session_id: 's1' }])
  expect(read(spoken, 'cursor', 'cursor').inputs).toMatchObject([{ role: 'user', content: 'Fix it.' }])
})

test('a broken line and a call without an id are named by their lines', () => {
  const broken = `${lines(stream.slice(0, 4))}\n{"type":\n${lines(stream.slice(4))}`
  expect(() => read(broken, 'cursor')).toThrow(/line 5: is not valid JSON/)
  const { call_id: _, ...unnamed } = stream[4] as { call_id: string }
  expect(() => read(lines([...stream.slice(0, 4), unnamed]), 'cursor')).toThrow(/line 5: a call must have an id/)
})
