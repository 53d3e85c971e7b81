import { formats, HeddleError, mergeSettings } from '@heddle/contracts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { propertyRuns } from '../../../../test/support/src/property-runs.js'
import { builtOrRefused, isOverBudget } from '../../../../test/support/src/samples/context-faults.js'
import { conversations, sampleMessage, withReasoning } from '../../../../test/support/src/samples/conversations.js'
import { sampleInput } from '../../../../test/support/src/samples/sample-input.js'
import { validateContext } from '../../../../test/support/src/validators/index.js'
import { settle } from '../compaction/settle.js'
import { type CompactionState, isCovered } from '../compaction/state.js'
import { readConversation } from '../conversation/conversation.js'
import type { Message } from '../conversation/message.js'
import { messageReference } from '../conversation/references.js'
import { estimateTokens } from '../tokens/tokens.js'
import { laneOf } from './lane-of.js'

const reference = ({ code }: Message) => messageReference(code)
const STATE_ID = '00000000-0000-7000-8000-000000000001'

function published(messages: readonly Message[], budget: number): CompactionState | null {
  const state = settle(messages, null, laneOf(mergeSettings({ budget })), messages.length, reference)
  return state?.covered == null ? null : { ...state, summary: 'They agreed on part 7.', summaryTokens: 7 }
}

/** A context whose budget is filled beside a published state, of which only the newest covered messages are loaded. */
function filled(
  messages: readonly Message[],
  state: CompactionState,
  loadedCovered: number,
  budget: number,
  more = {},
) {
  const covered = messages.filter((message) => isCovered(message, state))
  const unloaded = new Set(covered.slice(0, Math.max(0, covered.length - loadedCovered)).map(({ id }) => id))
  const loaded = messages.filter(({ id }) => !unloaded.has(id))
  const range = { mode: 'covered' as const, count: unloaded.size, tokens: 0, reason: 'summarized' }
  const given = { messages: loaded, imported: messages.length, headSeq: messages.length, unloaded: [range] }
  const stored = { state, stateId: STATE_ID, summarizer: 'the model', fill: 'budget' as const }
  return builtOrRefused(sampleInput({ ...given, ...stored, count: estimateTokens, ...more }, { budget }))
}

const rows = fc.record({
  messages: fc
    .tuple(conversations(80), fc.nat({ max: 1_000 }))
    .map(([messages, seed]) => withReasoning(messages, seed)),
  own: fc.integer({ min: 600, max: 3_000 }),
  budget: fc.integer({ min: 300, max: 8_000 }),
  loadedCovered: fc.nat({ max: 60 }),
  format: fc.constantFrom(...formats),
})

test('a context beside any published state is valid, within its budget, and has each message once', () => {
  fc.assert(
    fc.property(rows, ({ messages: given, own, budget, loadedCovered, format }) => {
      const { messages } = readConversation(given)
      const state = published(messages, own)
      if (state === null) return
      const context = filled(messages, state, loadedCovered, budget, { format })
      if (context instanceof HeddleError) return
      expect(isOverBudget(context, estimateTokens)).toBe(false)
      expect(validateContext(context)).toEqual([])
      const { entries, stateId, summarizer } = context.receipt
      expect(entries.reduce((sum, { count }) => sum + count, 0)).toBe(messages.length)
      expect(context.summaryUsed).toBe(summarizer !== undefined)
      if (summarizer === 'the model') expect(stateId).toBe(STATE_ID)
    }),
    { numRuns: propertyRuns(40) },
  )
})

const talk = Array.from({ length: 240 }, (_, index) =>
  sampleMessage({
    seq: index + 1,
    role: index % 2 ? 'assistant' : 'user',
    content: `I decided to keep part${index} of src/file${index}.ts as it was, since the tests of step ${index} fail.`,
  }),
)

test.each([
  ['its own budget', 4_000],
  ['a larger one', 5_500],
])('a context with %s shows the published summary as it was written, and the newest messages verbatim', (_, budget) => {
  const state = published(talk, 4_000)
  if (state === null) throw new Error('the talk was to be compacted')
  const context = filled(talk, state, 150, budget)
  if (context instanceof HeddleError) throw context
  expect(context.receipt).toMatchObject({ stateId: STATE_ID, summarizer: 'the model' })
  expect(JSON.stringify(context.messages)).toContain('They agreed on part 7.')
  expect(context.tokensUsed / budget).toBeGreaterThan(0.85)
  const covered = context.receipt.entries.filter(({ mode }) => mode === 'covered')
  const last = Math.max(...covered.map(({ toSeq = 0 }) => toSeq))
  expect(covered.reduce((sum, { count }) => sum + count, 0)).toBeGreaterThan(10)
  const newest = context.receipt.entries.filter(({ fromSeq = 0 }) => fromSeq > last + 1)
  expect(newest.length).toBeGreaterThan(20)
  expect(newest.every(({ mode }) => mode === 'raw')).toBe(true)
})
