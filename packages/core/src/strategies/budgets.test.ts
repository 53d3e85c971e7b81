import { fills, formats } from '@heddle/contracts'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { lookAtBudgets } from '../../../../test/support/src/budget-faults.js'
import { conversations, withReasoning } from '../../../../test/support/src/conversations.js'
import { estimateTokens } from '../tokens.js'

const HISTORIES = Number(process.env['HEDDLE_BUDGET_HISTORIES'] ?? 60)

const rows = fc.record({
  messages: fc
    .tuple(conversations(60), fc.nat({ max: 1_000 }))
    .map(([messages, seed]) => withReasoning(messages, seed)),
  strategy: fc.constantFrom('sandwich', 'tree', 'sliding-window', 'full-history'),
  format: fc.constantFrom(...formats),
  fill: fc.constantFrom(...fills),
  message: fc.constantFrom('go on', undefined),
  budgets: fc
    .uniqueArray(fc.integer({ min: 60, max: 12_000 }), { minLength: 3, maxLength: 6 })
    .map((budgets) => budgets.sort((left, right) => left - right)),
})

describe('any history with reasoning and parallel calls, in any format and by any strategy', () => {
  test('a budget larger than one that works always works, and holds what it says', () => {
    let larger = 0
    let short = 0
    fc.assert(
      fc.property(rows, ({ message, ...row }) => {
        const outcome = lookAtBudgets({ ...row, ...(message !== undefined && { message }), count: estimateTokens })
        expect(outcome.first).toBeNull()
        larger += outcome.usedShares.length
        short += outcome.usedShares.filter((share) => share < 0.85).length
      }),
      { numRuns: HISTORIES, endOnFailure: true },
    )
    process.stderr.write(`${short} of ${larger}\n`)
  })
})
