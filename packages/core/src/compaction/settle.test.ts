import { mergeSettings } from '@heddle/contracts'
import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { propertyRuns } from '../../../../test/support/src/property-runs.js'
import { conversations, sampleMessage } from '../../../../test/support/src/samples/conversations.js'
import { conversationOf, readConversation } from '../conversation/conversation.js'
import type { Message } from '../conversation/message.js'
import { laneOf } from '../strategies/lane-of.js'
import { settle } from './settle.js'
import { settledSummary } from './settled-summary.js'

const reference = (message: Message) => `msg-${message.code}`
const lane = (budget: number) => laneOf(mergeSettings({ budget }))
const headOf = (messages: readonly Message[]) => messages.at(-1)?.seq ?? 0

const talk = Array.from({ length: 300 }, (_, index) =>
  sampleMessage({
    seq: index + 1,
    role: index % 2 ? 'assistant' : 'user',
    content: `I decided to keep part${index} of src/file${index}.ts as it was, since the tests of step ${index} fail.`,
  }),
)

test('a growing conversation is summarized again only when another range is covered', () => {
  const named = vi.fn(reference)
  const summaries = new Set<string | null | undefined>()
  let times = 0
  for (let length = 200; length <= talk.length; length++) {
    named.mockClear()
    const messages = talk.slice(0, length)
    const summary = settle(messages, null, lane(4_000), headOf(messages), named)?.summary
    // A newly made summary names each message that it covers.
    if (!summaries.has(summary)) times++
    else expect(named).not.toHaveBeenCalled()
    summaries.add(summary)
  }
  expect(times).toBeGreaterThan(0)
  expect(times).toBeLessThan(10)
})

test('a list that grows at its end has the compactions of the whole list, and reads only what they left', () => {
  fc.assert(
    fc.property(conversations(120), fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 8 }), (messages, steps) => {
      let length = 0
      for (const step of [...steps, messages.length]) {
        length = Math.min(messages.length, length + step)
        const { messages: part } = readConversation(messages.slice(0, length))
        for (const budget of [800, 2_000]) {
          const continued = settle(part, null, lane(budget), headOf(part), reference)
          expect(continued).toEqual(settle(structuredClone(part), null, lane(budget), headOf(part), reference))
        }
      }
    }),
    { numRuns: propertyRuns(20) },
  )
})

test('a message that comes at the end is added without reading covered messages again', () => {
  let reads = 0
  const watched = talk.map((message) => ({
    ...message,
    get tokens() {
      reads++
      return message.tokens
    },
  }))
  const readsOf = (length: number) => {
    reads = 0
    settle(watched.slice(0, length), null, lane(4_000), length, reference)
    return reads
  }
  const anew = readsOf(299)
  expect(readsOf(300)).toBeLessThan(anew / 3)
})

const summaryOf = (covered: readonly Message[], all = covered) =>
  settledSummary(covered, { pairs: readConversation(all).pairs, before: null, tokensMax: 400, tree: null, reference })

test('the same list settles once, with the same result', () => {
  const messages = [...talk]
  const state = settle(messages, null, lane(4_000), headOf(messages), reference)
  expect(state?.summary).toBeTruthy()
  expect(settle(messages, null, lane(4_000), headOf(messages), reference)).toBe(state)
  const conversation = conversationOf(messages)
  expect(conversationOf(messages)).toBe(conversation)
  // The owner of the list appends to it.
  messages.push(
    ...Array.from({ length: 40 }, (_, index) => sampleMessage({ seq: 301 + index, content: 'go on '.repeat(40) })),
  )
  expect(conversationOf(messages)).toEqual(readConversation(messages))
  expect(settle(messages, null, lane(4_000), 300, reference)).toEqual(
    settle(structuredClone(messages), null, lane(4_000), 300, reference),
  )
})

test('other messages get another summary, however many they are', () => {
  const covered = talk.slice(0, 20)
  const changed = covered.with(5, {
    ...sampleMessage({ seq: 6 }),
    content: 'I decided to drop src/other.ts: it fails.',
  })
  expect(summaryOf(covered)).toBe(summaryOf(structuredClone(covered)))
  expect(summaryOf(changed)).toBe(summaryOf(structuredClone(changed)))
  expect(summaryOf(changed)).not.toBe(summaryOf(covered))
})

test('a result that turns out to answer another call gets another summary', () => {
  const toolCalls = [
    { id: 'a', name: 'Bash', arguments: { command: 'npm test' } },
    { id: 'b', name: 'shell', arguments: { command: 'npm run lint' } },
  ]
  const covered = [
    sampleMessage({ seq: 1, content: 'Make the checks pass.' }),
    sampleMessage({ seq: 2, role: 'assistant', content: '', toolCalls }),
    sampleMessage({
      seq: 3,
      role: 'tool_result',
      toolCallId: 'b',
      isError: true,
      content: 'Error: src/a.ts is broken',
    }),
  ]
  const unpaired = covered.filter(({ toolCalls: calls }) => calls.length === 0)
  expect(summaryOf(covered)).toContain('npm run lint')
  expect(summaryOf(covered, unpaired)).toBe(summaryOf(structuredClone(covered), unpaired))
  expect(summaryOf(covered, unpaired)).not.toBe(summaryOf(covered))
})

test('summaries beside other messages, other references or another budget equal those made separately', () => {
  const other = (message: Message) => `see-${message.code}`
  const asked = fc.record({
    messages: conversations(80),
    asks: fc.array(
      fc.record({
        budget: fc.constantFrom(800, 801, 1_600, 4_000),
        share: fc.double({ min: 0.2, max: 1, noNaN: true }),
        without: fc.nat(),
        isOther: fc.boolean(),
      }),
      { minLength: 2, maxLength: 8 },
    ),
  })
  fc.assert(
    fc.property(asked, ({ messages, asks }) => {
      for (const { budget, share, without, isOther } of asks) {
        const name = isOther ? other : reference
        const shown = messages.slice(0, Math.ceil(messages.length * share))
        // A late message is in the middle.
        const given = shown.filter((_, index) => index !== without % Math.max(1, shown.length))
        const known = settle(given, null, lane(budget), headOf(given), name)
        const anew = settle(structuredClone(given), null, lane(budget), headOf(given), name)
        expect(known).toEqual(anew)
        // The same list, with other options.
        const [tighter, byOther] = [{ ...lane(budget), limitTokens: budget >> 1 }, name === other ? reference : other]
        const others = laneOf(mergeSettings({ budget, prune: { keepLastN: 1, condenseAfterN: 0 } }))
        for (const [by, named] of [
          [others, name],
          [tighter, name],
          [lane(budget), byOther],
          [lane(budget + 1), name],
        ] as const)
          expect(settle(given, null, by, headOf(given), named)).toEqual(
            settle(structuredClone(given), null, by, headOf(given), named),
          )
        expect(settle(given, known, tighter, headOf(given), name)).toEqual(
          settle(structuredClone(given), known, tighter, headOf(given), name),
        )
        expect(settle(given, known, tighter, headOf(given) + 1, name)).toEqual(
          settle(structuredClone(given), known, tighter, headOf(given) + 1, name),
        )
      }
    }),
    // Shrinking takes minutes, so a failure only reports its seed.
    { numRuns: propertyRuns(30), endOnFailure: true },
  )
}, 120_000)
