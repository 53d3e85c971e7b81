import { mergeSettings } from '@heddle/contracts'
import { expect, test } from 'vitest'
import { sampleMessage } from '../../../../test/support/src/samples/conversations.js'
import { simulatedInput } from '../../../../test/support/src/samples/simulated-input.js'
import { SimulatedThread } from '../../../../test/support/src/samples/simulated-thread.js'
import { buildContext } from '../assembly/build.js'
import { CROWDED_OUT } from './crowd-out.js'
import { messagesWere } from './lay-out.js'

/** Many short messages that cannot be shortened and together exceed a small budget. */
function crowded(): SimulatedThread {
  const thread = new SimulatedThread({ budget: 10_000, sandwich: { preserveBottom: 40 } })
  for (let seq = 1; seq <= 60; seq++) {
    const role = seq % 2 === 1 ? 'user' : 'assistant'
    thread.arrive(sampleMessage({ seq, role, content: `${seq} ${'word '.repeat(12)}`, pinned: seq === 7 }))
  }
  return thread
}

test('messages that do not fit even when shortened are left out, oldest first, and the receipt says so', () => {
  const thread = crowded()
  const settings = mergeSettings({ ...thread.settings, budget: 500 })
  const { receipt, tokensUsed } = buildContext(simulatedInput(thread, { settings }))
  expect(tokensUsed).toBeLessThanOrEqual(500)
  const left = receipt.entries.filter(({ reason }) => reason === CROWDED_OUT)
  expect(left.reduce((sum, { count }) => sum + count, 0)).toBeGreaterThan(0)
  expect(receipt.eligible).toBe(60)
  expect(receipt.notes).toContainEqual(
    expect.stringMatching(/^\d+ messages were left out: too long for the budget even when shortened$/),
  )
  expect(messagesWere(1)).toBe('1 message was')
})

test('the latest request, the newest turn and pinned messages are never left out', () => {
  const thread = crowded()
  const settings = mergeSettings({ ...thread.settings, budget: 300 })
  const { receipt } = buildContext(simulatedInput(thread, { settings }))
  const shown = receipt.entries.filter(({ tokens }) => tokens > 0).map(({ fromSeq }) => fromSeq)
  expect(shown).toEqual(expect.arrayContaining([7, 59, 60]))
})
