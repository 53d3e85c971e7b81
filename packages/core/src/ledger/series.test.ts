import fc from 'fast-check'
import { expect, test } from 'vitest'
import { propertyRuns } from '../../../../test/support/src/property-runs.js'
import { conversationOf, conversationSteps, sampleMessage } from '../../../../test/support/src/samples/conversations.js'
import { SimulatedThread } from '../../../../test/support/src/samples/simulated-thread.js'
import type { CompactionState } from '../compaction/state.js'
import { readConversation } from '../conversation/conversation.js'
import { positionOf } from '../conversation/order.js'
import { finish } from '../recall/steps.js'
import type { Ledger } from './artifact.js'
import { extendLedger } from './extend.js'

const tools: readonly never[] = []
const RUNS = propertyRuns(120)

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
      { numRuns: RUNS },
    )
    expect(compared).toBeGreaterThan(RUNS / 6)
  },
)

const file = fc.constantFrom('/w/src/a.ts', 'src/a.ts', '/w/src/api/b.ts', 'src/api/b.ts', '/w/lib/a.ts', 'lib/c.ts')
const folder = fc.constantFrom('/w/src', 'src', 'src/api', '/w/lib', 'lib')
const command = fc.oneof(
  file.map((one) => `rm ${one}`),
  folder.map((one) => `rm -r ${one}`),
  fc.tuple(file, file).map(([from, to]) => `mv ${from} ${to}`),
  fc.tuple(file, folder).map(([from, to]) => `mv ${from} ${to}/`),
  fc.tuple(folder, folder).map(([from, to]) => `mv ${from} ${to}`),
  fc.tuple(file, file).map(([from, to]) => `cp ${from} ${to}`),
  folder.map((one) => `mkdir -p ${one}`),
  fc.constant('npm test'),
)
const call = fc.oneof(
  file.map((one) => ({ name: 'Read', arguments: { file_path: one } })),
  file.map((one) => ({ name: 'Write', arguments: { file_path: one, content: 'x\n' } })),
  command.map((one) => ({ name: 'Bash', arguments: { command: one } })),
)

test('the ledger of changes of files is the same wherever a compaction ends', () => {
  fc.assert(
    fc.property(fc.array(call, { minLength: 2, maxLength: 20 }), fc.nat(), (calls, random) => {
      const messages = calls.flatMap((one, index) => {
        const id = `call-${index}`
        const answer = { role: 'tool_result' as const, content: '1\tx', toolCallId: id, toolName: one.name }
        return [
          sampleMessage({ seq: 2 * index + 1, role: 'assistant', content: '', toolCalls: [{ id, ...one }] }),
          sampleMessage({ seq: 2 * index + 2, ...answer }),
        ]
      })
      const cut = 2 * (1 + (random % (calls.length - 1)))
      const upTo = (before: Ledger | null, from: number, to: number) => {
        const last = messages[to - 1]
        const after = messages[from - 1]
        if (last === undefined) throw new Error('no message at the end')
        const conversation = readConversation(messages.slice(0, to))
        const range = {
          conversation,
          after: after === undefined ? null : positionOf(after),
          to: positionOf(last),
          tools,
        }
        return finish(extendLedger(before, range))
      }
      const whole = upTo(null, 0, messages.length)
      expect(upTo(upTo(null, 0, cut), cut, messages.length)).toEqual(whole)
    }),
    { numRuns: propertyRuns(800) },
  )
})
