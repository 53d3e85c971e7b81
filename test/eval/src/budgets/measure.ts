import { fills, formats } from '@heddle/contracts'
import { countTokens, estimateTokens } from '@heddle/core'
import type { Measured } from '@heddle/test-support/figure'
import { type BudgetOutcome, type BudgetRow, lookAtBudgets } from '@heddle/test-support/samples/budget-faults'
import { conversationOf, conversationSteps, withReasoning } from '@heddle/test-support/samples/conversations'
import fc from 'fast-check'
import { readThreads } from '../contexts/threads.js'

const STRATEGIES = ['sandwich', 'tree', 'sliding-window', 'full-history'] as const
/** Strategies that fill a budget: the others define their contents themselves. */
const FILLING: readonly string[] = ['sandwich', 'tree']
const REAL_BUDGETS = [3_000, 4_000, 6_000, 8_000, 12_000, 16_000, 24_000, 32_000, 48_000, 64_000, 100_000, 150_000]
const USED_SHARE_MIN = 0.85
/** Histories of one seed, which a failure reports. */
const BATCH = 500
/** Short histories find the same faults as long ones, and many more of them fit into the same time. */
const STEPS_MAX = 24
/** Number of faults that are described; the rest is counted. */
const TOLD_MAX = 20

const generated = fc.record({
  steps: conversationSteps(STEPS_MAX),
  seed: fc.nat({ max: 1_000 }),
  strategy: fc.constantFrom(...STRATEGIES),
  format: fc.constantFrom(...formats),
  fill: fc.constantFrom(...fills),
  isAnswered: fc.boolean(),
  budgets: fc.uniqueArray(fc.integer({ min: 60, max: 6_000 }), { minLength: 4, maxLength: 4 }),
})

/** The measurements of either source. */
export const budgetFigures = [
  'built',
  'refused',
  'refusedLarger',
  'wrongNeeds',
  'overBudget',
  'broken',
  'shrunk',
  'used',
] as const

const NOTHING = { contexts: 0, refused: 0, refusedLarger: 0, wrongNeeds: 0, overBudget: 0, broken: 0, shrunk: 0 }

class Account {
  readonly #sums = { ...NOTHING }
  readonly #shares: number[] = []
  #told = 0

  add(row: BudgetRow, about: string): void {
    const outcome: BudgetOutcome = lookAtBudgets(row)
    for (const name of Object.keys(this.#sums) as (keyof typeof NOTHING)[]) this.#sums[name] += outcome[name]
    if (FILLING.includes(row.strategy)) this.#shares.push(...outcome.usedShares)
    if (outcome.first !== null && this.#told++ < TOLD_MAX) process.stderr.write(`${about}: ${outcome.first}\n`)
  }

  figures(source: string, note: string): Measured[] {
    const { contexts, refused, ...faults } = this.#sums
    const shares = this.#shares.toSorted((left, right) => left - right)
    const enough = shares.filter((share) => share >= USED_SHARE_MIN).length
    const at = (part: number) => Number((shares[Math.floor((shares.length - 1) * part)] ?? 1).toFixed(3))
    return [
      { name: `budgets.${source}.built`, value: contexts, unit: 'contexts', note },
      { name: `budgets.${source}.refused`, value: refused, unit: 'requests', note: 'the fixed parts do not fit' },
      ...Object.entries(faults).map(([name, value]): Measured => {
        return { name: `budgets.${source}.${name}`, value, unit: 'faults', target: '<= 0' }
      }),
      {
        name: `budgets.${source}.used`,
        value: shares.length === 0 ? 1 : enough / shares.length,
        unit: 'share',
        target: '>= 1',
        note: `of ${shares.length} contexts filled by fill: budget whose history is larger, those that use ${USED_SHARE_MIN} or more; least ${at(0)}, p1 ${at(0.01)}, median ${at(0.5)}`,
      },
    ]
  }
}

/**
 * Requests a context of every real thread at rising budgets in every way: a budget larger than a working one must work, contain
 * all that it claims, and be filled at least as much if it is to be filled.
 *
 * @param dataDir the folder of real sessions
 */
export async function measureBudgetsOfSessions(dataDir: string): Promise<Measured[]> {
  const threads = await readThreads(dataDir)
  const account = new Account()
  for (const [index, { thread, messages }] of threads.entries()) {
    process.stderr.write(`${index + 1} of ${threads.length}: ${thread}\n`)
    for (const strategy of STRATEGIES)
      for (const format of formats)
        for (const fill of fills)
          for (const asked of [{}, { message: 'go on' }])
            account.add(
              { messages, strategy, format, fill, ...asked, budgets: REAL_BUDGETS, count: countTokens },
              thread,
            )
  }
  return account.figures('sessions', `${threads.length} threads at ${REAL_BUDGETS.length} budgets in every way`)
}

/** The same for generated histories, each requested in one random way. */
export async function measureGeneratedBudgets(histories: number): Promise<Measured[]> {
  const account = new Account()
  for (let done = 0; done < histories; done += BATCH) {
    const rows = fc.sample(generated, { seed: done, numRuns: Math.min(BATCH, histories - done) })
    for (const [index, { steps, seed, isAnswered, budgets, ...way }] of rows.entries()) {
      const messages = withReasoning(conversationOf(steps), seed)
      const rising = budgets.toSorted((left, right) => left - right)
      const asked = isAnswered ? { message: 'go on' } : {}
      account.add(
        { ...way, ...asked, messages, budgets: rising, count: estimateTokens },
        `history ${index} of seed ${done}`,
      )
    }
    if (done % 10_000 === 0) process.stderr.write(`${done} of ${histories} generated histories\n`)
  }
  return account.figures('generated', `${histories} histories with reasoning and parallel calls, at four budgets each`)
}
