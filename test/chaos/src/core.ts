import { type StrategyName, strategyNames } from '@heddle/contracts'
import { estimateTokens } from '@heddle/core'
import type { Measured } from '@heddle/test-support/figure'
import { chances, wholeNumber } from '@heddle/test-support/samples/chances'
import { sampleSteps } from '@heddle/test-support/samples/conversations'
import { type RoundsOutcome, runStrategyRounds } from '@heddle/test-support/samples/strategy-rounds'

/** The guarantees of the rules alone, without servers and backends. */
export const coreFigureNames = [
  'core.orphans',
  'core.overBudget',
  'core.unaccounted',
  'core.changed',
  'core.coveredEnds',
  'core.rounds',
  'core.roundsPerSecond',
] as const

export interface CoreOptions {
  /** Over all strategies together. */
  readonly rounds: number
  readonly seed: number
  readonly say: (line: string) => void
}

/** Rounds in which one history grows. */
const ROUNDS_OF_HISTORY = 20
const STEPS_MAX = 90
/** Histories that are generated at once, between two progress reports. */
const BATCH = 100
const NONE = '<= 0'

/** Grows and compacts generated histories under every strategy in turn, and counts violations of the guarantees. */
export function runCore({ rounds, seed, say }: CoreOptions): Measured[] {
  const chance = chances(seed)
  const startedMs = performance.now()
  const names = strategyNames()
  const total = { orphans: 0, overBudget: 0, unaccounted: 0, changed: 0, coveredEnds: 0, rounds: 0, contexts: 0 }
  const more = { compactions: 0, refused: 0 }
  const histories = Math.ceil(rounds / ROUNDS_OF_HISTORY)
  for (let from = 0; from < histories; from += BATCH) {
    const batch = sampleSteps(seed + from, Math.min(BATCH, histories - from), STEPS_MAX)
    for (const [index, steps] of batch.entries()) {
      const strategy = names[(from + index) % names.length] ?? 'sandwich'
      const outcome = runStrategyRounds({
        strategy,
        settings: settingsBy(chance),
        steps,
        rounds: ROUNDS_OF_HISTORY,
        count: estimateTokens,
      })
      for (const key of Object.keys(total) as (keyof typeof total)[]) total[key] += outcome[key]
      more.compactions += outcome.compactions
      more.refused += outcome.refused
      if (hasFault(outcome)) say(describeFault(strategy, seed, from + index, outcome))
    }
    say(`core: ${total.rounds} of ${rounds} rounds`)
  }
  const seconds = (performance.now() - startedMs) / 1_000
  const { contexts } = total
  const note = `${contexts} contexts, ${more.compactions} compactions, ${more.refused} refused; ${names.join(', ')}`
  return [
    { name: 'core.orphans', value: total.orphans, unit: 'breaches', target: NONE },
    { name: 'core.overBudget', value: total.overBudget, unit: 'contexts', target: NONE },
    { name: 'core.unaccounted', value: total.unaccounted, unit: 'messages', target: NONE },
    { name: 'core.changed', value: total.changed, unit: 'contexts', target: NONE },
    { name: 'core.coveredEnds', value: total.coveredEnds, unit: 'messages', target: NONE },
    { name: 'core.rounds', value: total.rounds, unit: 'rounds', target: `>= ${rounds}`, note },
    { name: 'core.roundsPerSecond', value: total.rounds / seconds, unit: 'rounds/s' },
  ]
}

function settingsBy(chance: () => number) {
  const ends = () => ({ preserveTop: wholeNumber(chance, 0, 8), preserveBottom: wholeNumber(chance, 0, 8) })
  return {
    budget: wholeNumber(chance, 600, 6_000),
    sandwich: ends(),
    tree: { ...ends(), leafTokens: wholeNumber(chance, 500, 2_000), fanOut: wholeNumber(chance, 2, 8) },
    slidingWindow: { keepLastN: wholeNumber(chance, 1, 40) },
  }
}

function hasFault({ orphans, overBudget, unaccounted, changed, coveredEnds }: RoundsOutcome): boolean {
  return orphans + overBudget + unaccounted + changed + coveredEnds > 0
}

function describeFault(strategy: StrategyName, seed: number, history: number, outcome: RoundsOutcome): string {
  return `core: ${strategy}, history ${history} of --seed ${seed}: ${JSON.stringify(outcome)}`
}
