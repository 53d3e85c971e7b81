import { formats, type PartialSettings } from '@heddle/contracts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { propertyRuns } from '../../../../test/support/src/property-runs.js'
import { builtOrRefused } from '../../../../test/support/src/samples/context-faults.js'
import { conversationOf, conversationSteps, type Step } from '../../../../test/support/src/samples/conversations.js'
import { simulatedInput } from '../../../../test/support/src/samples/simulated-input.js'
import { SimulatedThread } from '../../../../test/support/src/samples/simulated-thread.js'
import { isAssistantSide } from '../conversation/turns.js'
import { type RenderedPart, renderedParts, sharedPrefixTokens } from '../delivery/shared-prefix.js'
import { estimateTokens } from '../tokens/tokens.js'
import type { buildContext } from './build.js'

/** Compactions, a sliding window and newly shortened messages may change the middle of a context; nothing else may. */
function fateOfMiddle({ receipt }: ReturnType<typeof buildContext>): string {
  const left = receipt.entries.filter(({ mode }) => mode === 'left-out').map(({ fromSeq, toSeq }) => [fromSeq, toSeq])
  const isShortened = ({ mode, reason }: (typeof receipt.entries)[number]) =>
    mode === 'elided' || reason === 'too long for the budget'
  const elided = receipt.entries.filter(isShortened).map(({ fromSeq, tokens }) => [fromSeq, tokens])
  return JSON.stringify([left, elided])
}

/** Builds a context before each answer, with a new status each time; returns how many contexts were compared. */
function compare(steps: readonly Step[], settings: PartialSettings, format: (typeof formats)[number]): number {
  const thread = new SimulatedThread(settings)
  let before: { parts: RenderedPart[]; stableTokens: number; middle: string } | null = null
  let compared = 0
  for (const message of conversationOf(steps)) {
    const previous = thread.stored.at(-1)
    if (previous && isAssistantSide(message) && !isAssistantSide(previous)) {
      const compactions = thread.series.length
      thread.settle()
      const status = `at message ${thread.stored.length}`
      const fields = { format, thread: { name: 'run', title: null, goal: null, status } }
      const context = builtOrRefused(simulatedInput(thread, fields))
      if (context instanceof Error) before = null
      else {
        const parts = renderedParts(context, estimateTokens)
        const middle = fateOfMiddle(context)
        if (before && thread.series.length === compactions && middle === before.middle) {
          expect(sharedPrefixTokens(before.parts, parts)).toBeGreaterThanOrEqual(before.stableTokens)
          compared++
        }
        const tail = context.receipt.sections.find(({ name }) => name === 'status')?.tokens ?? 0
        before = { parts, middle, stableTokens: parts.reduce((sum, { tokens }) => sum + tokens, 0) - tail }
      }
    }
    thread.arrive(message)
  }
  return compared
}

const RUNS = propertyRuns(80)

test.each(['sandwich', 'tree', 'sliding-window', 'full-history'])(
  'between compactions a context of %s begins with the previous one, up to the parts that change each time',
  (strategy) => {
    let compared = 0
    fc.assert(
      fc.property(
        conversationSteps(40),
        fc.integer({ min: 1_500, max: 12_000 }),
        fc.constantFrom(...formats),
        (steps, budget, format) => {
          compared += compare(steps, { strategy, budget }, format)
        },
      ),
      { numRuns: RUNS },
    )
    expect(compared).toBeGreaterThan(2 * RUNS)
  },
)
