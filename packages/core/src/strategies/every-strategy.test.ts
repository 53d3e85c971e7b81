import { builtInStrategies } from '@heddle/contracts'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import registerOwn from '../../../../docs/examples/own-strategy.js'
import { conversationSteps } from '../../../../test/support/src/samples/conversations.js'
import { OWN_STRATEGY, registerOnce } from '../../../../test/support/src/samples/own-strategy.js'
import { runStrategyRounds } from '../../../../test/support/src/samples/strategy-rounds.js'
import { estimateTokens } from '../tokens/tokens.js'

registerOnce(registerOwn)
const strategies = [...builtInStrategies, OWN_STRATEGY]

/** Number of histories over all strategies: low, so that the tests stay fast. CI runs 5,000. */
const HISTORIES = Number(process.env['HEDDLE_STRATEGY_HISTORIES'] ?? 72)
const ROUNDS = 20
/** Short histories with small budgets find the same faults as long ones, and many more fit into the same time. */
const STEPS_MAX = 20

const settings = fc.record({
  budget: fc.integer({ min: 400, max: 2_500 }),
  sandwich: fc.record({ preserveTop: fc.integer({ min: 0, max: 8 }), preserveBottom: fc.integer({ min: 0, max: 8 }) }),
  tree: fc.record({
    preserveTop: fc.integer({ min: 0, max: 8 }),
    preserveBottom: fc.integer({ min: 0, max: 8 }),
    leafTokens: fc.constantFrom(500, 2_000),
    fanOut: fc.integer({ min: 2, max: 8 }),
  }),
  slidingWindow: fc.record({ keepLastN: fc.integer({ min: 1, max: 40 }) }),
})

describe.each(strategies.map((strategy) => ({ strategy })))('the strategy $strategy', ({ strategy }) => {
  test(
    'keeps its promises through twenty rounds of growth and compaction',
    () => {
      let contexts = 0
      let compactions = 0
      fc.assert(
        fc.property(conversationSteps(STEPS_MAX), settings, (steps, chosen) => {
          const outcome = runStrategyRounds({
            strategy,
            settings: chosen,
            steps,
            rounds: ROUNDS,
            count: estimateTokens,
          })
          expect(outcome).toMatchObject({ overBudget: 0, orphans: 0, unaccounted: 0, changed: 0, coveredEnds: 0 })
          contexts += outcome.contexts
          compactions += outcome.compactions
        }),
        { numRuns: Math.ceil(HISTORIES / strategies.length), endOnFailure: true },
      )
      expect(contexts).toBeGreaterThan(50)
      if (['sandwich', 'tree', 'two-requests'].includes(strategy)) expect(compactions).toBeGreaterThan(5)
    },
    30_000 + HISTORIES * 200,
  )
})
