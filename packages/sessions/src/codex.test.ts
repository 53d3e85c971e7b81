import { expect, test } from 'vitest'
import { parseSession } from './parse.js'

const at = (second: number) => `2026-01-22T10:30:${String(second).padStart(2, '0')}.000Z`
const line = (second: number, type: string, payload: object) => JSON.stringify({ timestamp: at(second), type, payload })
const item = (second: number, payload: object) => line(second, 'response_item', payload)
const said = (role: string, text: string) => ({
  type: 'message',
  role,
  content: [{ type: role === 'assistant' ? 'output_text' : 'input_text', text }],
})
const call = (id: string, command: string) => ({
  type: 'function_call',
  name: 'shell',
  arguments: JSON.stringify({ command: ['bash', '-lc', command] }),
  call_id: id,
})
const output = (id: string, text: string) => ({ type: 'function_call_output', call_id: id, output: text })
const counted = (input: number, cached: number) => ({
  type: 'token_count',
  info: {
    total_token_usage: { input_tokens: 9_999 },
    last_token_usage: {
      input_tokens: input,
      cached_input_tokens: cached,
      output_tokens: 40,
      reasoning_output_tokens: 8,
      total_tokens: input + 40,
    },
  },
})

const meta = line(0, 'session_meta', { id: '0198', cwd: '/repo', cli_version: '0.65.0', instructions: null })
const begun = [
  meta,
  item(1, said('developer', 'Sandbox: read only.')),
  item(1, said('user', 'Which port?')),
  line(1, 'event_msg', { type: 'user_message', message: 'Which port?' }),
  line(1, 'turn_context', { cwd: '/repo', model: 'gpt-5-codex', effort: 'high' }),
  item(2, { type: 'reasoning', summary: [{ type: 'summary_text', text: '**Looking**' }], encrypted_content: 'gAAAA' }),
  item(3, call('call_1', 'cat port.txt')),
  item(3, call('call_2', 'ls')),
  line(3, 'event_msg', counted(300, 256)),
  item(4, output('call_1', '5433')),
  item(4, output('call_2', 'port.txt')),
]
const parse = (lines: readonly string[]) => {
  const file = parseSession(`${lines.join('\n')}\n`, { fileName: 'rollout-1.jsonl', format: 'auto' })
  expect(file.format).toBe('codex')
  return { skipped: file.skipped, inputs: file.threads[0]?.messages.map(({ input }) => input) ?? [], file }
}

test('a reply of a rollout is one message with its calls, its model and its usage', () => {
  const { inputs, skipped } = parse([...begun, item(5, said('assistant', 'It is 5433.'))])
  expect(inputs).toMatchObject([
    { role: 'system', content: 'Sandbox: read only.', sentAt: at(1) },
    { role: 'user', content: 'Which port?' },
    {
      role: 'assistant',
      sentAt: at(2),
      model: 'gpt-5-codex',
      thinking: [{ text: '**Looking**' }],
      toolCalls: [{ id: 'call_1', name: 'shell' }, { id: 'call_2' }],
      usage: { inputTokens: 44, cacheReadTokens: 256, outputTokens: 40, reasoningTokens: 8 },
    },
    { role: 'tool_result', toolCallId: 'call_1', toolName: 'shell', content: '5433' },
    { role: 'tool_result', toolCallId: 'call_2', content: 'port.txt' },
    { role: 'assistant', content: 'It is 5433.' },
  ])
  expect(inputs[1]?.model).toBeUndefined()
  expect(skipped).toEqual({ session_meta: 1, 'event_msg/user_message': 1, turn_context: 1, 'event_msg/token_count': 1 })
})

test("Codex's own summary is kept aside, and what follows it goes on", () => {
  const compacted = line(6, 'compacted', { message: 'The port is 5433.', replacement_history: [said('user', 'x')] })
  const { inputs } = parse([...begun, compacted, item(7, said('user', 'Go on.'))])
  expect(inputs.slice(-2)).toMatchObject([
    { role: 'user', content: 'The port is 5433.', keptAside: 'compact-summary' },
    { role: 'user', content: 'Go on.' },
  ])
})

test('a rollout that has grown repeats the identities of what it had, also of a reply that has', () => {
  const identities = (lines: readonly string[]) =>
    parse(lines).file.threads[0]?.messages.map(({ identity }) => identity)
  expect(identities(begun.slice(0, 7))?.at(-1)).toBe(identities(begun)?.[2])
  const before = identities(begun) ?? []
  expect(identities([...begun, item(5, said('assistant', 'It is 5433.'))])?.slice(0, before.length)).toEqual(before)
})

test('items that say nothing, and records of later versions, are counted and left out', () => {
  const { skipped, inputs } = parse([
    ...begun.slice(0, 3),
    item(2, { type: 'ghost_snapshot', ghost_commit: { id: 'abc' } }),
    line(2, 'world_state', { cwd: '/repo' }),
  ])
  expect(inputs).toHaveLength(2)
  expect(skipped).toEqual({ session_meta: 1, 'response_item/ghost_snapshot': 1, world_state: 1 })
})
