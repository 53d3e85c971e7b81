import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sampleMessage } from '../../../../test/support/src/samples/conversations.js'
import { sampleInput } from '../../../../test/support/src/samples/sample-input.js'
import { isInWindow, windowBounds } from '../conversation/eligibility.js'
import { buildContext } from './build.js'
import type { HiddenMessages } from './hidden-by-window.js'
import { hiddenReason } from './hidden-messages.js'

const hidden = (fields: Partial<HiddenMessages> = {}): HiddenMessages => ({
  thread: 'run',
  agent: 'coder',
  outsideWindow: 0,
  beforeClear: 0,
  imported: 12,
  rollingWindow: 86_400,
  windowOf: 'agent',
  ...fields,
})
const shown = [sampleMessage({ seq: 1, content: 'hello' })]

test('a message has a hidden reason exactly when it is not in the window; a cleared message counts as cleared', () => {
  const window = fc.record({
    rollingWindow: fc.option(fc.integer({ min: 1, max: 3 })),
    lastClearedAtMs: fc.option(fc.integer({ min: -5_000, max: 0 })),
    clearedSeq: fc.nat({ max: 5 }),
    nowMs: fc.constant(0),
  })
  const message = fc.record({ seq: fc.integer({ min: 1, max: 9 }), orderedAtMs: fc.integer({ min: -6_000, max: 10 }) })
  fc.assert(
    fc.property(window, message, (bounds, place) => {
      const reason = hiddenReason(place, bounds)
      expect(reason === null).toBe(isInWindow(sampleMessage(place), windowBounds(bounds)))
      const isCleared = hiddenReason(place, { ...bounds, rollingWindow: null }) !== null
      expect(reason === 'before-clear').toBe(isCleared)
    }),
    { numRuns: 1_000 },
  )
})

describe('a receipt', () => {
  test('counts hidden messages separately from ineligible ones, and puts that note first', () => {
    const input = sampleInput(
      {
        messages: shown,
        imported: 13,
        ineligible: { error: 2 },
        hidden: [hidden({ outsideWindow: 5, beforeClear: 7, imported: 13 })],
      },
      { model: 'a model that nobody knows' },
    )
    const { receipt } = buildContext(input)
    expect(receipt.ineligible).toEqual({ error: 2, 'outside-window': 5, 'before-clear': 7 })
    expect(receipt.eligible + 5 + 7).toBe(receipt.imported)
    expect(receipt.notes[0]).toBe(
      '12 of the 13 messages of the thread are not shown: 5 are outside of the rolling window of 86400 seconds, 7 are from before the last clear; to show all ages: heddle settings set rollingWindow none --agent coder, or "rollingWindow": null in a request for a context; to bring back the messages of a snapshot: heddle context history --agent coder; messages in no snapshot are shown only under another agent',
    )
    expect(receipt.notes.length).toBeGreaterThan(1)
  })

  test('has no note when the window hides nothing', () => {
    const { receipt } = buildContext(sampleInput({ messages: shown, hidden: [hidden()] }))
    expect([receipt.ineligible, receipt.notes]).toEqual([{}, []])
  })

  test('notes first that no message is shown, and lists the threads of a scope, those that show nothing first', () => {
    const request = { thread: 'run', message: 'go on' }
    const whole = hidden({ outsideWindow: 12, windowOf: 'thread', thread: "it's" })
    const { receipt } = buildContext(sampleInput({ request, imported: 12, hidden: [whole] }))
    expect(receipt.notes[0]).toBe(
      `none of the 12 messages of the thread is shown: 12 are outside of the rolling window of 86400 seconds; to show all ages: "rollingWindow": null in a request for a context, or in the settings of the thread 'it'\\''s'`,
    )
    const scope = { threads: ['run', 'a', 'b'], since: null }
    const several = [hidden({ beforeClear: 1, thread: 'a' }), hidden({ outsideWindow: 12, thread: 'b' })]
    const woven = buildContext(sampleInput({ request, scope, hidden: [...several, hidden({ thread: 'elsewhere' })] }))
    expect(woven.receipt.notes.map((note) => note.slice(0, 23))).toEqual([
      'thread "b": none of the',
      'thread "a": 1 of the 12',
    ])
  })

  test('suggests no command that changes the agent when the request set the window itself', () => {
    const own = hidden({ outsideWindow: 3, rollingWindow: 60, windowOf: 'request' })
    const { receipt } = buildContext(sampleInput({ messages: shown, hidden: [own] }))
    expect(receipt.notes).toEqual([
      '3 of the 12 messages of the thread are not shown: 3 are outside of the rolling window of 60 seconds; to show more: a longer "rollingWindow" in the request',
    ])
  })
})

test('a request that is refused because the window hides every message says why and what to do', () => {
  const refused = () => buildContext(sampleInput({ imported: 12, hidden: [hidden({ outsideWindow: 12 })] }))
  expect(refused).toThrow(
    expect.objectContaining({
      code: 'VALIDATION_ERROR',
      message:
        'Conversation has no messages: none of the 12 messages of the thread is shown: 12 are outside of the rolling window of 86400 seconds',
      hint: expect.stringContaining('heddle settings set rollingWindow none --agent coder'),
    }),
  )
})
