import type { Settings } from '@heddle/contracts'
import { loopTokens } from './allocation.js'
import type { Iteration } from './iteration.js'
import type { LoopContext } from './loop.js'
import type { ProgressState } from './progress.js'
import { block } from './prompt-parts.js'
import type { DividedLoop } from './window.js'

/**
 * A wider window cannot take iterations out of a summary, but an earlier version of the summary covers fewer. So the possible
 * windows end where a version begins, and only at versions that were regenerated: those are `summarizeEvery` iterations apart, so
 * a window keeps its beginning, and a prompt its prefix, until the next one is needed (docs/iterations.md#a-window-that-adapts).
 */

/** Most iterations of a window, and those that are read to find it. */
export const WINDOW_ITERATIONS_MAX = 200

interface WindowLimits {
  readonly settings: Pick<Settings, 'iterations'>
  /** Most tokens of the prompt. */
  readonly roomTokens: number
  readonly count: (text: string) => number
}

/** The windows that show all of their iterations within the tokens, widest first. The caller counts their summaries. */
export function adaptiveWindows(loop: LoopContext, limits: WindowLimits): DividedLoop[] {
  const { summary, iterations, totalIterations } = loop
  const coveredCount = summary?.coveredCount ?? 0
  // Some iterations are neither covered nor loaded.
  if (iterations.length === 0 || coveredCount + iterations.length < totalIterations) return []
  const earlier = loop.earlier?.iterations ?? []
  const windows = [
    ...(earlier.length === coveredCount && summary !== null ? [windowAfter(null, null)] : []),
    ...earlierSummaries(loop).map((state) => windowAfter(state, state.id)),
    windowAfter(summary),
  ]
  const affordable = affordableOf([...earlier, ...iterations], limits)
  return withOutput(windows.filter(({ shown }) => shown.length <= affordable))

  function windowAfter(state: ProgressState | null, stateId?: string | null): DividedLoop {
    const before = earlier.slice(earlier.length - (coveredCount - (state?.coveredCount ?? 0)))
    const shown = state === summary ? iterations : [...before, ...iterations]
    return { shown, deferred: [], summary: state, covered: [], unread: 0, ...(stateId !== undefined && { stateId }) }
  }
}

/** Valid versions whose later iterations are all loaded, each that covers fewer iterations first. */
function earlierSummaries({ summary, earlier }: LoopContext): (ProgressState & { readonly id: string })[] {
  if (summary === null || earlier === undefined) return []
  const byCount = new Map<number, ProgressState & { readonly id: string }>()
  for (const state of earlier.summaries) {
    const later = summary.coveredCount - state.coveredCount
    // A late iteration in its range makes it void: then another one is before the window.
    if (later <= 0 || earlier.iterations.at(-later - 1)?.number !== state.coveredTo) continue
    if (!byCount.has(state.coveredCount)) byCount.set(state.coveredCount, state)
  }
  return [...byCount.values()].sort((a, b) => a.coveredCount - b.coveredCount)
}

/** How many of the newest iterations fit whole. */
function affordableOf(iterations: readonly Iteration[], { settings, roomTokens, count }: WindowLimits): number {
  let tokens = 0
  for (let shown = 0; shown < Math.min(iterations.length, WINDOW_ITERATIONS_MAX); shown++) {
    const iteration = iterations[iterations.length - shown - 1]
    if (iteration === undefined) return shown
    tokens += block(iteration, settings.iterations.shownCharacters, count).tokens
    if (tokens > Math.min(loopTokens.iterationsMax, roomTokens)) return shown
  }
  return Math.min(iterations.length, WINDOW_ITERATIONS_MAX)
}

/** Without windows whose additional iterations have no output: a summary names those as well. */
function withOutput(windows: readonly DividedLoop[]): DividedLoop[] {
  return windows.filter(({ shown }, index) => {
    const narrower = windows[index + 1]?.shown.length ?? 0
    return narrower === 0 || shown.slice(0, shown.length - narrower).some(({ output }) => output.trim() !== '')
  })
}
