import { mergeSettings } from '@heddle/contracts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { conversations } from '../../../../test/support/src/samples/conversations.js'
import { validateContext } from '../../../../test/support/src/validators/index.js'
import { buildContext } from '../assembly/build.js'
import type { BuildInput } from '../assembly/input.js'
import type { CompactionState } from '../compaction/state.js'
import { readConversation } from '../conversation/conversation.js'
import type { Message } from '../conversation/message.js'
import { positionOf } from '../conversation/order.js'
import { messageReference } from '../conversation/references.js'
import { decidePrunings } from '../prune/decide.js'
import { countTokens } from '../tokens/tokens.js'
import { referenceIn, stateFromAnywhere } from './references.js'

const THREAD = 'fix/login ü'
const count = countTokens

test('a state read from anywhere has full references in its summary and its prunings, and the tokens of these texts', () => {
  const point = { orderedAtMs: 1, ordinal: 0, id: 'a' }
  const text = '📁 Viewed a.ts - 3 lines [recall:msg-1a2b3c4d]'
  const call = { number: 1, text: '✏️ Edited a.ts [recall:msg-1a2b3c4d:tool-1]', freedTokens: 90 }
  const inputOf = (elided: string) => JSON.stringify({ elided })
  const state: CompactionState = {
    point,
    headSeq: 1,
    topIds: [],
    covered: { from: point, to: point },
    summary: 'It failed [recall:msg-00000000] twice.',
    summaryTokens: count('It failed [recall:msg-00000000] twice.'),
    prunings: new Map([
      ['a', { messageId: 'a', action: 'condense', text, calls: null, tokens: count(text) + 4, reason: 'old' }],
      ['b', { messageId: 'b', action: 'remove', text: '', calls: null, tokens: 0, reason: 'old' }],
      [
        'c',
        {
          messageId: 'c',
          action: 'condense',
          text: '',
          calls: [call],
          tokens: count(inputOf(call.text)),
          reason: 'old',
        },
      ],
    ]),
  }
  const { summary, summaryTokens, prunings } = stateFromAnywhere(state, THREAD, count)
  expect(summary).toBe('It failed [recall:nexora://_/fix%2Flogin%20%C3%BC/msg-00000000] twice.')
  expect(summaryTokens).toBe(count(summary ?? ''))
  expect(prunings.get('a')?.text).toBe('📁 Viewed a.ts - 3 lines [recall:nexora://_/fix%2Flogin%20%C3%BC/msg-1a2b3c4d]')
  expect(prunings.get('a')?.tokens).toBe(count(prunings.get('a')?.text ?? '') + 4)
  expect(prunings.get('b')).toBe(state.prunings.get('b'))
  const moved = '✏️ Edited a.ts [recall:nexora://_/fix%2Flogin%20%C3%BC/msg-1a2b3c4d:tool-1]'
  expect(prunings.get('c')).toMatchObject({
    text: '',
    calls: [{ number: 1, text: moved }],
    tokens: count(inputOf(moved)),
  })
})

test('a context with full references shows no short one and keeps to its budget', () => {
  const property = fc.property(conversations(30), fc.integer({ min: 400, max: 6_000 }), (messages, budget) => {
    const state = prunedState(messages)
    const input: BuildInput = {
      agent: { name: 'reader', version: 1, systemPrompt: 'You read.', docs: [] },
      thread: { name: THREAD, title: null, goal: null, status: null },
      request: { thread: THREAD, budget, references: 'full', message: 'go on' },
      settings: mergeSettings({ budget, rollingWindow: null }),
      format: 'openai-chat',
      counter: 'o200k',
      count,
      messages,
      unloaded: [],
      ineligible: {},
      imported: messages.length,
      state: stateFromAnywhere(state, THREAD, count),
      stateId: null,
      headSeq: messages.length,
      clearEpoch: 0,
      reference: ({ code }) => referenceIn(THREAD, code),
    }
    const built = buildOrNull(input)
    if (built === null) return
    expect(built.tokensUsed).toBeLessThanOrEqual(budget)
    expect(validateContext(built)).toEqual([])
    expect(JSON.stringify(built.messages)).not.toContain('[recall:msg-')
  })
  fc.assert(property, { numRuns: 60 })
})

function prunedState(messages: readonly Message[]): CompactionState {
  const { pairs } = readConversation(messages)
  const { prune } = mergeSettings({})
  const decisions = decidePrunings({
    messages,
    pairs,
    settings: { ...prune, keepLastN: 2 },
    alreadyPruned: new Set(),
    reference: ({ code }) => messageReference(code),
  })
  const last = messages.at(-1)
  return {
    point: last === undefined ? { orderedAtMs: 0, ordinal: 0, id: '' } : positionOf(last),
    headSeq: messages.length,
    topIds: [],
    covered: null,
    summary: null,
    summaryTokens: 0,
    prunings: new Map(
      decisions.map(({ archive: _, ...pruning }) => [
        pruning.messageId,
        { ...pruning, tokens: pruning.action === 'remove' ? 0 : count(pruning.text) },
      ]),
    ),
  }
}

function buildOrNull(input: BuildInput) {
  try {
    return buildContext(input)
  } catch (error) {
    if ((error as { code?: string }).code === 'BUDGET_TOO_SMALL') return null
    throw error
  }
}
