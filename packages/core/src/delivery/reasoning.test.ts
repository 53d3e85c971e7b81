import { describe, expect, test } from 'vitest'
import { conversationOf, sampleMessage } from '../../../../test/support/src/samples/conversations.js'
import { readConversation } from '../conversation/conversation.js'
import { dropOldReasoning, sentIn, sentMessages } from './reasoning.js'

const thinking = [{ text: 'I should look first. '.repeat(10), signature: 'EqQB'.repeat(40) }]
const messages = [
  sampleMessage({ seq: 1, content: 'Fix it.' }),
  sampleMessage({ seq: 2, role: 'assistant', content: 'First.', thinking }),
  sampleMessage({ seq: 3, role: 'assistant', content: 'Second.', thinking }),
  sampleMessage({ seq: 4, content: 'And now?' }),
  sampleMessage({ seq: 5, role: 'assistant', content: 'Third.', thinking }),
]
const bearing = (list: readonly { thinking: readonly unknown[] }[]) => list.map((one) => one.thinking.length > 0)

describe('a message as sent in a format', () => {
  test('has reasoning, signatures counted, only if the format carries it', () => {
    const [, second] = messages
    if (second === undefined) throw new Error('no message')
    expect(second.reasoningTokens).toBeGreaterThan(40)
    expect(sentIn('anthropic', second)).toBe(second)
    const bare = sentIn('openai-chat', second)
    expect(bare).toMatchObject({ thinking: [], reasoningTokens: 0, tokens: second.tokens - second.reasoningTokens })
    expect(sentIn('openai-chat', second)).toBe(bare)
  })

  test('is in the same list object if nothing is left out', () => {
    expect(sentMessages('ai-sdk', messages)).toBe(messages)
    const plain = conversationOf([{ kind: 'user', size: 10, pinned: false }])
    expect(sentMessages('openai-chat', plain)).toBe(plain)
  })

  test('has no reasoning if a signature is missing', () => {
    const unsigned = sampleMessage({ seq: 1, role: 'assistant', thinking: [...thinking, { text: 'and again' }] })
    expect(unsigned.reasoningTokens).toBe(0)
  })
})

describe('old reasoning', () => {
  const conversation = readConversation(messages)
  const each = messages[1]?.reasoningTokens ?? 0

  test('is dropped oldest first, and no more than needed', () => {
    const { conversation: lean, dropped } = dropOldReasoning(conversation, 1, true)
    expect(dropped).toBe(1)
    expect(bearing(lean.messages)).toEqual([false, false, true, false, true])
    expect(dropOldReasoning(conversation, each + 1, true).dropped).toBe(2)
    expect(dropOldReasoning(conversation, 0, true)).toEqual({ conversation, dropped: 0 })
  })

  test('is that of finished turns: the current turn keeps its own', () => {
    const open = dropOldReasoning(conversation, Number.POSITIVE_INFINITY, false)
    expect(bearing(open.conversation.messages)).toEqual([false, false, false, false, true])
    const answered = dropOldReasoning(conversation, Number.POSITIVE_INFINITY, true)
    expect(bearing(answered.conversation.messages)).toEqual([false, false, false, false, false])
  })
})
