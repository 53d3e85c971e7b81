import type { Settings } from '@heddle/contracts'
import { fingerprint } from '../conversation/fingerprint.js'

/**
 * A loop's summary is a series: with each iteration the oldest one of the window is folded into it, and each
 * `summarizeEvery` iterations it is made anew from the iterations themselves, so that what a model left out or got wrong
 * does not live on (docs/iterations.md). Which steps there are follows from the number of iterations alone. A worker that wakes late
 * begins with the latest step that reads iterations only, so it arrives where one arrives that was there all along
 * (docs/design.md#invariant-5).
 *
 * A summary that is made anew reads at most 200 iterations. Of a longer loop it builds on the summary of the first 200,
 * 400 and so on, each of which is a step of its own that was made in the same way.
 */

/** Iterations that one step reads at most; a longer loop builds on a summary of the ones before. */
export const REGENERATED_ITERATIONS_MAX = 200

/** A summary that is in force, and what it stands for. */
export interface ProgressState {
  /** How many iterations there were when it was made. */
  readonly total: number
  /** How many of them it covers: the first ones by number. */
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
  /** The step reads the iterations after the first `baseCount`, with the summary of those; 0 reads from the beginning. */
  readonly baseCount: number
}

type WindowSettings = Pick<Settings['iterations'], 'rawWindowSize' | 'summarizeEvery'>

/** Names the series of summaries that some settings give: others do not build on it. */
export function progressLane(settings: Pick<Settings, 'iterations' | 'maxSummaryTokens'>): string {
  const { rawWindowSize, summarizeEvery } = settings.iterations
  return `iterations-${fingerprint(JSON.stringify([rawWindowSize, summarizeEvery, settings.maxSummaryTokens])).slice(0, 12)}`
}

/**
 * The next step of a loop's summary, or null where it is as it should be.
 *
 * @param latest the latest step that was made, null where there is none that holds
 * @param checkpoint the largest multiple of `REGENERATED_ITERATIONS_MAX` for which a step was made that holds, else 0
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

/** The number of iterations, at most `total`, at which a summary was last to be made anew; 0 where it never was. */
function lastRegeneration(total: number, { rawWindowSize, summarizeEvery }: WindowSettings): number {
  const periodic = Math.floor(total / summarizeEvery) * summarizeEvery
  const covered = Math.max(0, total - rawWindowSize)
  const checkpoint = Math.floor(covered / REGENERATED_ITERATIONS_MAX) * REGENERATED_ITERATIONS_MAX
  const anew = Math.max(periodic, checkpoint === 0 ? 0 : checkpoint + rawWindowSize)
  return anew > rawWindowSize ? anew : 0
}
