import { HeddleError } from '@heddle/contracts'
import { type BuildInput, buildContext, countRendered, countSystem, ineligibleReason } from '@heddle/core'
import type { SimulatedThread } from './simulated-thread.js'

export type Built = ReturnType<typeof buildContext>

/** The context, or the error that refuses a budget too small for the fixed parts. */
export function builtOrRefused(input: BuildInput): Built | HeddleError {
  try {
    return buildContext(input)
  } catch (error) {
    if (error instanceof HeddleError && error.code === 'BUDGET_TOO_SMALL') return error
    throw error
  }
}

/** Whether a context exceeds its budget, by its own count or by a count of its delivered messages. */
export function isOverBudget({ tokensUsed, budget, messages, system }: Built, count: BuildInput['count']): boolean {
  return tokensUsed > budget || countRendered(messages, count) + countSystem(system, count) > budget
}

/**
 * How many messages of a thread the receipt does not account for exactly once. Loaded messages are in it by their
 * sequence numbers, each once; other messages by their number.
 */
export function unaccounted(thread: SimulatedThread, { messages }: BuildInput, { receipt }: Built): number {
  const seen = new Map<number, number>()
  for (const { fromSeq, count } of receipt.entries) {
    if (fromSeq === undefined) continue
    for (let seq = fromSeq; seq < fromSeq + count; seq++) seen.set(seq, (seen.get(seq) ?? 0) + 1)
  }
  const loaded = messages.filter((message) => ineligibleReason(message) === null)
  const wrong = loaded.filter(({ seq }) => seen.get(seq) !== 1).length + Math.abs(seen.size - loaded.length)
  const eligible = thread.stored.filter((message) => ineligibleReason(message) === null).length
  return wrong + Math.abs(receipt.entries.reduce((sum, { count }) => sum + count, 0) - eligible)
}
