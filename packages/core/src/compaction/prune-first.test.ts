import { mergeSettings, type PartialSettings } from '@heddle/contracts'
import { expect, test } from 'vitest'
import { sampleMessage } from '../../../../test/support/src/samples/conversations.js'
import { readConversation } from '../conversation/conversation.js'
import type { Message } from '../conversation/message.js'
import { laneOf } from '../strategies/lane-of.js'
import { nextCompaction } from './plan.js'

/** Calls whose results take most of the context, so that condensing them is enough. */
function calls(count: number): Message[] {
  const messages: Message[] = [sampleMessage({ seq: 1, content: 'Read all of it.' })]
  for (let call = 0; call < count; call++) {
    const toolCalls = [{ id: `call-${call}`, name: 'Read', arguments: { file_path: `/src/part${call}.ts` } }]
    messages.push(sampleMessage({ seq: messages.length + 1, role: 'assistant', content: '', toolCalls, tokens: 20 }))
    const result = { role: 'tool_result' as const, toolCallId: `call-${call}`, content: 'const part = 1\n'.repeat(120) }
    messages.push(sampleMessage({ seq: messages.length + 1, ...result, tokens: 600 }))
  }
  return messages
}

const planOf = (settings: PartialSettings) =>
  nextCompaction(
    readConversation(calls(60)),
    null,
    laneOf(mergeSettings({ budget: 30_000, ...settings })),
    ({ code }) => `msg-${code}`,
  )

test('a context that pruning alone makes small enough gets no summary', () => {
  const plan = planOf({ compactTo: 0.7 })
  expect(plan?.prunings.length).toBeGreaterThan(10)
  expect(plan).toMatchObject({ needsSummary: false, covered: null })
})

test('what is still too much after pruning is summarized', () => {
  const plan = planOf({ compactTo: 0.1 })
  expect(plan?.prunings.length).toBeGreaterThan(0)
  expect(plan).toMatchObject({ needsSummary: true, covered: expect.anything() })
})
