import type { Settings } from '@heddle/contracts'
import { fingerprint } from '../conversation/fingerprint.js'

/**
 * A loop's summary is a series: with each iteration the oldest one of the window is added to it, and every
 * `summarizeEvery` iterations it is regenerated from the iterations themselves, so that a model's omissions and errors
 * do not persist (docs/iterations.md). The steps depend only on the number of iterations. A worker that wakes late
 * starts at the latest step that reads only iterations, so it reaches the same state as one that ran all along
 * (docs/design.md#invariant-5).
 *
 * A regenerated summary reads at most 200 iterations. In a longer loop it builds on the summary of the first 200, 400
 * and so on, each of which is a step of its own, made in the same way.
 */

/** Iterations that one step reads at most; in a longer loop it builds on a summary of the earlier ones. */
export const REGENERATED_ITERATIONS_MAX = 200

/** A summary in force, and the iterations it covers. */
export interface ProgressState {
  /** Number of iterations when it was made. */
  readonly total: number
  /** Number of iterations it covers: the first ones by number. */
  readonly coveredCount: number
  /** The numbers of the first and the last iteration that it covers. */
  readonly coveredFrom: number
  readonly coveredTo: number
  readonly summary: string
  readonly summaryTokens: number
}

/** One step of the series: a summary of the first `coveredCount` iterations. */
export interface ProgressStep {
  readonly kind: 'fold' | 'regenerate'
  readonly total: number
  readonly coveredCount: number
  /** The step reads the iterations after the first `baseCount`, and their summary; 0 reads from the beginning. */
  readonly baseCount: number
}

type WindowSettings = Pick<Settings['iterations'], 'rawWindowSize' | 'summarizeEvery'>

/** The key of the series of summaries under some settings; other series do not build on it. */
export function progressLane(settings: Pick<Settings, 'iterations' | 'maxSummaryTokens'>): string {
  const { rawWindowSize, summarizeEvery } = settings.iterations
  return `iterations-${fingerprint(JSON.stringify([rawWindowSize, summarizeEvery, settings.maxSummaryTokens])).slice(0, 12)}`
}

/**
 * The next step of a loop's summary, or null if it is up to date.
 *
 * @param latest the latest valid step, or null
 * @param checkpoint the largest multiple of `REGENERATED_ITERATIONS_MAX` with a valid step, else 0
 */
export function nextProgress(
  total: number,
  latest: Pick<ProgressStep, 'total'> | null,
  checkpoint: number,
  settings: WindowSettings,
): ProgressStep | null {
  const { rawWindowSize: window } = settings
  const made = latest?.total ?? window
  if (total <= made) return null
  const anew = lastRegeneration(total, settings)
  if (anew <= made) return stepAt(made + 1, 'fold', window)
  const step = stepAt(anew, 'regenerate', window)
  if (step.baseCount <= checkpoint) return step
  return stepAt(checkpoint + REGENERATED_ITERATIONS_MAX + window, 'regenerate', window)
}

function stepAt(total: number, kind: ProgressStep['kind'], window: number): ProgressStep {
  const coveredCount = total - window
  const lastCheckpoint = Math.floor((coveredCount - 1) / REGENERATED_ITERATIONS_MAX) * REGENERATED_ITERATIONS_MAX
  return { kind, total, coveredCount, baseCount: kind === 'fold' ? coveredCount - 1 : lastCheckpoint }
}

/** The latest number of iterations, at most `total`, at which the summary is regenerated; 0 before the first time. */
function lastRegeneration(total: number, { rawWindowSize, summarizeEvery }: WindowSettings): number {
  const periodic = Math.floor(total / summarizeEvery) * summarizeEvery
  const covered = Math.max(0, total - rawWindowSize)
  const checkpoint = Math.floor(covered / REGENERATED_ITERATIONS_MAX) * REGENERATED_ITERATIONS_MAX
  const anew = Math.max(periodic, checkpoint === 0 ? 0 : checkpoint + rawWindowSize)
  return anew > rawWindowSize ? anew : 0
}
