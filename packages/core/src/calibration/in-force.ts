import type { Settings } from '@heddle/contracts'
import { type CountFit, predictCount } from './fit.js'

/** Corrects our counts: a provider counts at most `(offset + ratio * counted) * (1 + margin)`. */
export interface Calibration {
  readonly ratio: number
  readonly offset: number
  readonly margin: number
}

/** The calibration in force for an agent's requests to a model. */
export interface LearntCalibration extends Calibration {
  readonly model: string
}

const MARGIN_DEFAULT = 0.05
/** A limit is at least this share of what it is without a calibration: wrong reports cannot make contexts useless. */
const WINDOW_SHARE_MIN = 0.25

/** Settings with what was learnt for their model, where they leave it open. */
export function withLearnt(settings: Settings, learnt: readonly LearntCalibration[]): Settings {
  const { calibration, model } = settings
  const found = learntFor(model, learnt)
  if (found === null || !calibration.enabled || calibration.ratio !== null) return settings
  const { ratio, offset, margin } = found
  return {
    ...settings,
    calibration: {
      enabled: true,
      ratio,
      offset: calibration.offset ?? offset,
      margin: calibration.margin ?? margin,
    },
  }
}

/**
 * Providers report a dated name for a model that is asked for by a shorter one. Without the name of a model, the one that expects
 * the most tokens applies.
 */
function learntFor(model: string | null, learnt: readonly LearntCalibration[]): LearntCalibration | null {
  const own = model === null ? null : nameOf(model)
  const fitting = learnt.filter((one) => own === null || isNamed(nameOf(one.model), own))
  const exact = fitting.filter((one) => own !== null && nameOf(one.model) === own)
  return (exact.length > 0 ? exact : fitting).toSorted(byMost)[0] ?? null
}

/** A name without its provider. */
const nameOf = (model: string) => model.slice(model.lastIndexOf('/') + 1).toLowerCase()
const DATE = /^[-@:](?:\d{4}-\d{2}-\d{2}|\d{4,8})$/
const isNamed = (reported: string, asked: string) =>
  reported === asked || (reported.startsWith(asked) && DATE.test(reported.slice(asked.length)))
const byMost = (one: LearntCalibration, other: LearntCalibration) =>
  most(other, COMPARED_TOKENS[0]) - most(one, COMPARED_TOKENS[0]) || (one.model < other.model ? -1 : 1)

/** The calibration that settings name; null without a ratio, or if it is off. */
export function calibrationIn({ calibration }: Pick<Settings, 'calibration'>): Calibration | null {
  const { enabled, ratio, offset, margin } = calibration
  if (!enabled || ratio === null) return null
  return { ratio, offset: offset ?? 0, margin: margin ?? MARGIN_DEFAULT }
}

/**
 * The tokens by our counter that fit into a window. Never more than without a calibration: reports that are too low, by error
 * or on purpose, could otherwise make contexts that a provider refuses.
 *
 * @param windowTokens of the model, without the answer's
 * @param uncalibrated the same without a calibration, by our counter
 */
export function calibratedWindow(
  { ratio, offset, margin }: Calibration,
  windowTokens: number,
  uncalibrated: number,
): number {
  const fitting = Math.floor((windowTokens / (1 + margin) - offset) / ratio)
  return Math.max(Math.floor(uncalibrated * WINDOW_SHARE_MIN), Math.min(uncalibrated, fitting))
}

/** A provider's count of a whole request in tokens of our counter. */
export function countedTokensOf({ ratio, offset, margin }: Calibration, reported: number): number {
  return Math.max(0, Math.round((reported / (1 + margin) - offset) / ratio))
}

/** Sizes at which two calibrations are compared. */
const COMPARED_TOKENS = [20_000, 100_000] as const
/** A calibration that expects this much more than was learnt is replaced. */
const SLACK_MAX = 0.15

const RATIO_STEP = 0.05
const OFFSET_STEP = 500
const MARGIN_STEP = 0.01

/**
 * The calibration in force after more was learnt. It changes in steps, and only if it expects too few tokens, or far too many:
 * with each change, threads whose limit depends on it are compacted anew.
 */
export function nextCalibration(current: Calibration | null, fit: CountFit): Calibration {
  if (current !== null && COMPARED_TOKENS.every((tokens) => isGood(most(fit, tokens), most(current, tokens))))
    return current
  return {
    ratio: upTo(fit.ratio, RATIO_STEP),
    offset: upTo(fit.offset, OFFSET_STEP),
    margin: upTo(fit.margin, MARGIN_STEP),
  }
}

const isGood = (learnt: number, inForce: number) => learnt <= inForce && learnt >= inForce * (1 - SLACK_MAX)

function most(calibration: Calibration, counted: number): number {
  return predictCount(calibration, counted) * (1 + calibration.margin)
}

/** Rounded up to a whole number of steps, without the noise of binary fractions. */
function upTo(value: number, step: number): number {
  return Number((Math.ceil(value / step - 1e-9) * step).toFixed(2))
}
