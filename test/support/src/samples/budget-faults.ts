import { type Fill, type FormatName, HeddleError, type StrategyName } from '@heddle/contracts'
import { type BuildInput, type Message, rawCost } from '@heddle/core'
import { validateContext } from '../validators/index.js'
import { type Built, builtOrRefused, isOverBudget } from './context-faults.js'
import { sampleInput } from './sample-input.js'

/** A request at several budgets, one after the other. */
export interface BudgetRow {
  readonly messages: readonly Message[]
  readonly strategy: StrategyName
  readonly format: FormatName
  readonly fill: Fill
  /** The user's new message; absent during a turn. */
  readonly message?: string
  /** In ascending order. */
  readonly budgets: readonly number[]
  readonly count: BuildInput['count']
}

/** Faults of a series of budgets, counted; all zero without a fault. */
export interface BudgetFaults {
  /** Budgets that are refused though a smaller one worked. */
  refusedLarger: number
  /** Budgets that a refusal named as sufficient, and that are refused too. */
  wrongNeeds: number
  overBudget: number
  /** Rules of providers that a context violates. */
  broken: number
  /** Budgets at least a quarter larger than another whose context is smaller; looked for where the fill is \`budget\`. */
  shrunk: number
}

export interface BudgetOutcome extends BudgetFaults {
  readonly contexts: number
  readonly refused: number
  /** Shares of the budget that contexts use whose history is larger than it. */
  readonly usedShares: readonly number[]
  /** The first fault, for people. */
  readonly first: string | null
}

const LARGER = 1.25

export function lookAtBudgets(row: BudgetRow): BudgetOutcome {
  const found = { refusedLarger: 0, wrongNeeds: 0, overBudget: 0, broken: 0, shrunk: 0, contexts: 0, refused: 0 }
  const usedShares: number[] = []
  let first: string | null = null
  const note = (fault: keyof BudgetFaults, budget: number, detail: string) => {
    found[fault]++
    first ??= `${fault} at ${budget}: ${detail} (${row.strategy}, ${row.format}, ${row.fill}, ${row.message ?? 'no message'})`
  }
  const built: { budget: number; context: Built }[] = []
  for (const budget of row.budgets) {
    const context = builtOrRefused(inputAt(row, budget))
    if (context instanceof HeddleError) {
      found.refused++
      if (built.length > 0) note('refusedLarger', budget, `${built.at(-1)?.budget} worked`)
      const needed = Number(context.facts?.['needed'])
      const isEnough = needed > budget && !(builtOrRefused(inputAt(row, needed)) instanceof HeddleError)
      if (!isEnough) note('wrongNeeds', budget, `${needed} is said to be enough`)
      continue
    }
    found.contexts++
    if (isOverBudget(context, row.count)) note('overBudget', budget, `${context.tokensUsed} tokens`)
    const faults = validateContext(context)
    if (faults.length > 0) note('broken', budget, faults[0] ?? '')
    if (row.fill === 'budget') {
      const larger = built.find((one) => one.budget * LARGER <= budget && one.context.tokensUsed > context.tokensUsed)
      if (larger !== undefined) {
        note('shrunk', budget, `${context.tokensUsed} tokens, ${larger.context.tokensUsed} at ${larger.budget}`)
      }
      if (isLarger(row, budget)) usedShares.push(context.tokensUsed / budget)
    }
    built.push({ budget, context })
  }
  return { ...found, usedShares, first }
}

function inputAt({ messages, strategy, format, fill, message, count }: BudgetRow, budget: number): BuildInput {
  const request = { thread: 'run', ...(message !== undefined && { message }) }
  return sampleInput({ messages, format, fill, count, request }, { strategy, budget })
}

/** Whether the messages exceed a budget in every format. */
function isLarger({ messages }: BudgetRow, budget: number): boolean {
  return messages.reduce((sum, message) => sum + rawCost(message) - message.reasoningTokens, 0) > budget * LARGER
}
