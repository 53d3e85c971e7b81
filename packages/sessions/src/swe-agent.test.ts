import { expect, test } from 'vitest'
import { parseSession } from './parse.js'

function inputsOf(history: unknown[]) {
  const file = parseSession(JSON.stringify({ environment: 'x', trajectory: [], history, info: {} }), {
    fileName: 'a.traj',
    format: 'auto',
  })
  expect(file.format).toBe('swe-agent')
  return file.threads[0]?.messages.map(({ input }) => input)
}

const main = { agent: 'main' }

test('a history with function calls keeps only the non-empty extra fields', () => {
  expect(
    inputsOf([
      { ...main, role: 'system', content: 'SETTING', message_type: 'system_prompt' },
      {
        ...main,
        role: 'user',
        content: [{ type: 'text', text: 'Issue' }],
        message_type: 'demonstration',
        is_demo: true,
      },
      {
        ...main,
        role: 'assistant',
        content: 'Let me look.',
        thought: 'Let me look.',
        action: 'open a.py',
        message_type: 'action',
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'open', arguments: '{"path":"a.py"}' } }],
      },
      { ...main, role: 'tool', content: 'text', tool_call_ids: ['c1'], message_type: 'observation' },
    ]),
  ).toEqual([
    { role: 'system', content: 'SETTING' },
    { role: 'user', content: 'Issue', metadata: { messageType: 'demonstration', is_demo: true } },
    {
      role: 'assistant',
      content: 'Let me look.',
      toolCalls: [{ id: 'c1', name: 'open', arguments: '{"path":"a.py"}' }],
    },
    { role: 'tool_result', content: 'text', toolCallId: 'c1', toolName: 'open' },
  ])
})

test('a history without function calls keeps the action that its content lacks', () => {
  expect(
    inputsOf([
      { role: 'assistant', content: 'DISCUSSION\nls', thought: 'DISCUSSION', action: 'ls\n', tool_calls: null },
      { role: 'assistant', content: 'Hm.', thought: 'Hm.', action: 'cat a', agent: 'reviewer' },
      { role: 'user', content: 'a\nb' },
    ]),
  ).toEqual([
    { role: 'assistant', content: 'DISCUSSION\nls' },
    { role: 'assistant', content: 'Hm.', metadata: { action: 'cat a', agent: 'reviewer' } },
    { role: 'user', content: 'a\nb' },
  ])
})

test('a content that is neither text nor list is refused', () => {
  expect(() => inputsOf([{ role: 'user', content: 42 }])).toThrow(/history\.0: content: must be a text/)
})

test('a result without a call id answers the oldest open call', () => {
  const call = (id: string) => ({ id, type: 'function', function: { name: id, arguments: '{}' } })
  const inputs = inputsOf([
    { role: 'assistant', content: '', tool_calls: [call('c1'), call('c2')] },
    { role: 'tool', content: '1' },
    { role: 'tool', content: '2' },
  ])
  expect(inputs?.map((input) => input.toolCallId)).toEqual([undefined, 'c1', 'c2'])
})
