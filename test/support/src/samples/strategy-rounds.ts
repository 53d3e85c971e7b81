import { HeddleError, type PartialSettings, type StrategyName } from '@heddle/contracts'
import { type BuildInput, isCovered } from '@heddle/core'
import { validateOpenAiChat } from '../validators/index.js'
import { builtOrRefused, isOverBudget, unaccounted } from './context-faults.js'
import type { Step } from './conversations.js'
import { conversationOf } from './conversations.js'
import { simulatedInput, unpublishedInput } from './simulated-input.js'
import { SimulatedThread } from './simulated-thread.js'

/** Faults of contexts, counted; all zero without a fault. */
export interface Faults {
  /** Contexts over their budget, by their own count or by a count of their delivered messages. */
  overBudget: number
  /** Calls without their result, results without their call, and other violations of a provider's rules. */
  orphans: number
  /** Messages that no line of a receipt accounts for, or more than one. */
  unaccounted: number
  /** Contexts that differ when they are built again from the same input. */
  changed: number
  /** First or newest messages that a summary covers though the strategy keeps them. */
  coveredEnds: number
}

export interface RoundsOutcome extends Faults {
  readonly rounds: number
  readonly contexts: number
  /** Budgets too small for the fixed parts, which are refused with the required budget. */
  readonly refused: number
  readonly compactions: number
}

export interface RoundsOptions {
  readonly strategy: StrategyName
  readonly settings: PartialSettings
  readonly steps: readonly Step[]
  /** How often the history grows, is compacted, and a context is requested. */
  readonly rounds: number
  /** Counts the tokens of a text; the messages must have been counted with it. */
  readonly count: (text: string) => number
}

/** Lets a history grow round by round, compacts it as the pipeline does, and checks the context of each round. */
export function runStrategyRounds({ strategy, settings, steps, rounds, count }: RoundsOptions): RoundsOutcome {
  const messages = conversationOf(steps)
  const thread = new SimulatedThread({ ...settings, strategy })
  const found = { overBudget: 0, orphans: 0, unaccounted: 0, changed: 0, coveredEnds: 0 }
  const outcome = { ...found, rounds, contexts: 0, refused: 0, compactions: 0 }
  for (let round = 1; round <= rounds; round++) {
    const grown = Math.ceil((messages.length * round) / rounds)
    for (const message of messages.slice(thread.stored.length, grown)) thread.arrive(message)
    const before = thread.series.length
    thread.settle()
    outcome.compactions += thread.series.length - before
    outcome.coveredEnds += coveredEnds(thread, before)
    // Sometimes a request has another budget, without a compaction for it.
    const asked = round % 10 === 0 ? otherLane(thread, count) : simulatedInput(thread, { count })
    look(thread, asked, round % 5 === 1, outcome)
  }
  return outcome
}

function look(
  thread: SimulatedThread,
  input: BuildInput,
  again: boolean,
  outcome: Faults & { contexts: number; refused: number },
): void {
  const context = builtOrRefused(input)
  if (context instanceof HeddleError) {
    outcome.refused++
    return
  }
  outcome.contexts++
  if (isOverBudget(context, input.count)) outcome.overBudget++
  outcome.orphans += validateOpenAiChat(context.messages).length
  outcome.unaccounted += unaccounted(thread, input, context)
  if (again && JSON.stringify(builtOrRefused(input)) !== JSON.stringify(context)) outcome.changed++
}

function coveredEnds({ series, lane, stored }: SimulatedThread, from: number): number {
  const { preserveTop, preserveBottom } = lane.strategy
  let covered = 0
  for (const state of series.slice(from)) {
    const seen = stored.filter((message) => message.orderedAtMs <= state.point.orderedAtMs)
    const ends = [...seen.slice(0, preserveTop), ...(preserveBottom === 0 ? [] : seen.slice(-preserveBottom))]
    covered += ends.filter((message) => isCovered(message, state)).length
  }
  return covered
}

function otherLane(thread: SimulatedThread, count: RoundsOptions['count']): BuildInput {
  return unpublishedInput(thread, { budget: Math.ceil((thread.settings.budget ?? 4_000) * 0.8) }, { count })
}
