import { PermanentError, type Receipt } from '@heddle/contracts'
import { predictCount } from '../calibration/fit.js'
import { calibrationIn } from '../calibration/in-force.js'
import { answerTokens, type Lane, limitingCalibration, windowByMargin } from '../compaction/lane.js'
import { countFrame, countNeutralMessage } from '../formats/index.js'
import type { Counting } from '../history/counting.js'
import { assumedWindow, modelMargin } from '../tokens/models.js'
import type { BuildInput } from './input.js'
import type { FixedSection } from './section.js'
import { toolsIn } from './sections.js'

const OTHERS_LEFT_OUT = 'activity of other threads was left out to fit the budget'
const MEMORIES_LEFT_OUT = 'the memories were left out to fit the budget'
const FACTS_LEFT_OUT = 'the facts were left out to fit the budget'
const LEDGER_LEFT_OUT = 'the ledger was left out to fit the budget'
const SELECTED_LEFT_OUT = 'the items selected by meaning were left out to fit the budget'

export interface Attempt {
  readonly sections: readonly FixedSection[]
  readonly notes: readonly string[]
}

/**
 * All sections, then ever fewer: if the history does not fit, optional sections are dropped one by one, the least
 * useful first.
 */
export function attempts(every: readonly FixedSection[]): [Attempt, ...Attempt[]] {
  const all: [Attempt, ...Attempt[]] = [{ sections: every, notes: [] }]
  for (const [name, note] of [
    ['status', OTHERS_LEFT_OUT],
    ['memories', MEMORIES_LEFT_OUT],
    ['selected', SELECTED_LEFT_OUT],
    ['ledger', LEDGER_LEFT_OUT],
    ['facts', FACTS_LEFT_OUT],
  ] as const) {
    const { sections, notes } = all.at(-1) ?? all[0]
    const isDropped = (section: FixedSection) =>
      section.isOptional === true && (section.name === name || (name === 'facts' && section.name === 'fact-changes'))
    const fewer = sections.filter((section) => !isDropped(section))
    if (fewer.length < sections.length) all.push({ sections: fewer, notes: [...notes, note] })
  }
  return all
}

export function countFixed(sections: readonly FixedSection[], { format, count }: BuildInput): number {
  return sections
    .flatMap((section) => section.messages)
    .reduce(
      (sum, message) => sum + countNeutralMessage(format, message, count),
      toolsTokens(sections) + countFrame(format, count),
    )
}

export function toolsTokens(sections: readonly FixedSection[]): number {
  return toolsIn(sections).reduce((sum, { tokens }) => sum + tokens, 0)
}

export function budgetTooSmall(budget: number, needed: number, fixedTokens: number): PermanentError {
  const shorten =
    fixedTokens > needed / 2 ? ', or shorten the system prompt, the docs, the items of the thread and the message' : ''
  return new PermanentError('BUDGET_TOO_SMALL', `the context needs about ${needed} tokens, the budget is ${budget}`, {
    field: 'budget',
    received: String(budget),
    facts: { budget, needed },
    hint: `ask for a budget of ${needed} tokens or more${shorten}`,
  })
}

/** Notes for the receipt about the token limit that was applied. */
export function limitNotes({ settings }: BuildInput, lane: Lane): string[] {
  const { model, budget } = settings
  const window = assumedWindow(settings)
  const assumed =
    window === null
      ? []
      : [`the window of model "${window.model}" is not known: ${window.tokens} tokens are assumed (unknownModelWindow)`]
  const held =
    budget !== null && budget > lane.limitTokens
      ? [
          `the budget of ${budget} tokens was limited to ${lane.limitTokens}: the window of the model minus the tokens reserved for its answer`,
        ]
      : []
  const answer = answerTokens(settings)
  const shortened =
    answer < settings.maxOutputTokens && (budget === null || budget > lane.limitTokens)
      ? [`${answer} tokens are reserved for the answer, half of the window, instead of ${settings.maxOutputTokens}`]
      : []
  const margin = modelMargin(model)
  const calibration = limitingCalibration(settings)
  const calibrated =
    calibration === null
      ? []
      : [
          `calibrated: ${lane.limitTokens} tokens fit instead of ${Math.min(windowByMargin(settings), budget ?? Number.POSITIVE_INFINITY)}, since the provider counts ${calibration.ratio} for each and ${calibration.offset} besides`,
        ]
  const counted =
    calibration === null && margin > 1 && (budget === null || budget > lane.limitTokens)
      ? [`counted by o200k: the window of "${model}" was divided by ${margin}, since its own tokens are smaller`]
      : []
  return [...assumed, ...held, ...shortened, ...calibrated, ...counted]
}

/** The calibration in force, and what the provider is expected to count; only for our own counter, which it is learnt by. */
export function calibrationReceipt(
  { settings, counter }: Pick<BuildInput, 'settings' | 'counter'>,
  tokensUsed: number,
): Pick<Receipt, 'calibration'> {
  const calibration = counter === 'o200k' ? calibrationIn(settings) : null
  if (calibration === null) return {}
  const expectedTokens = predictCount(calibration, tokensUsed)
  return {
    calibration: {
      ...calibration,
      expectedTokens,
      atMostTokens: Math.ceil(expectedTokens * (1 + calibration.margin)),
      isLimiting: limitingCalibration(settings) !== null,
    },
  }
}

export function countingOf(input: BuildInput): Counting {
  return { format: input.format, count: input.count, storedCountsFit: input.counter === 'o200k' }
}
