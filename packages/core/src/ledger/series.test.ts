import fc from 'fast-check'
import { expect, test } from 'vitest'
import { conversationOf, conversationSteps } from '../../../../test/support/src/samples/conversations.js'
import { SimulatedThread } from '../../../../test/support/src/samples/simulated-thread.js'
import type { CompactionState } from '../compaction/state.js'
import { readConversation } from '../conversation/conversation.js'
import { finish } from '../recall/steps.js'
import type { Ledger } from './artifact.js'
import { extendLedger } from './extend.js'

const tools: readonly never[] = []

// The other strategies never compact.
test.each(['sandwich', 'tree'])(
  'the ledger of the last compaction of %s is the same whatever the order of arrival and the moments of a worker',
  (strategy) => {
    let compared = 0
    fc.assert(
      fc.property(
        conversationSteps(40),
        fc.integer({ min: 600, max: 4_000 }),
        fc.infiniteStream(fc.nat(9)),
        (steps, budget, random) => {
          const thread = new SimulatedThread({ strategy, budget })
          const draw = () => random.next().value ?? 0
          const waiting = conversationOf(steps)
          while (waiting.length > 0) {
            // Mostly in order, now and then late, with a worker that is interrupted.
            const [message] = waiting.splice(draw() === 0 ? Math.min(draw(), waiting.length - 1) : 0, 1)
            if (message !== undefined) thread.arrive(message)
            if (draw() < 3) thread.work(draw())
          }
          thread.settle()
          const last = thread.state
          if (last === null) return
          compared++
          let [ledger, before]: [Ledger | null, CompactionState | null] = [null, null]
          for (const state of thread.series) {
            const conversation = readConversation(thread.uncovered(before))
            const range = { conversation, after: before?.point ?? null, to: state.point, tools }
            ledger = finish(extendLedger(ledger, range))
            before = state
          }
          const whole = { conversation: readConversation(thread.stored), after: null, to: last.point, tools }
          expect(ledger).toEqual(finish(extendLedger(null, whole)))
        },
      ),
      { numRuns: 60 },
    )
    expect(compared).toBeGreaterThan(10)
  },
)
