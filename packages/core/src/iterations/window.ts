import type { Settings } from '@heddle/contracts'
import { countTokens } from '../tokens/tokens.js'
import type { Iteration } from './iteration.js'
import type { LoopContext } from './loop.js'
import type { ProgressState } from './progress.js'
import { progressRequest } from './progress-request.js'
import { summarizeProgressExtractively } from './progress-summary.js'

/** How one context accounts for each iteration of a loop; every one is in exactly one field. */
export interface DividedLoop {
  /** The newest of the window, oldest first. */
  readonly shown: readonly Iteration[]
  /** Iterations in the window, but older than those that a prompt shows. */
  readonly deferred: readonly Iteration[]
  /** Covers every other iteration except `unread`; null without such iterations. */
  readonly summary: ProgressState | null
  /** The stored version of an earlier `summary`, or null for none. Absent for the summary in force. */
  readonly stateId?: string | null
  /** Iterations that only this context's summary covers; empty if the stored summary covers all it should. */
  readonly covered: readonly Iteration[]
  /** Number of iterations that are neither covered nor loaded, because too many were recorded before a worker ran. */
  readonly unread: number
}

/**
 * Divides a loop into the shown iterations and those in its summary. Iterations outside the window that no stored
 * summary covers, since its summarizer failed or no worker ran yet, are summarized for this context only, without a
 * model.
 */
export function divideLoop(
  loop: LoopContext,
  settings: Pick<Settings, 'iterations' | 'maxSummaryTokens'>,
): DividedLoop {
  const { rawWindowSize, shownIterations } = settings.iterations
  const { iterations, summary, totalIterations } = loop
  const windowStart = Math.max(0, iterations.length - rawWindowSize)
  const shownStart = Math.max(windowStart, iterations.length - shownIterations)
  const left = iterations.slice(0, windowStart)
  return {
    shown: iterations.slice(shownStart),
    deferred: iterations.slice(windowStart, shownStart),
    summary: left.length === 0 ? summary : foldedIn(left, summary, settings.maxSummaryTokens),
    covered: left,
    unread: Math.max(0, totalIterations - (summary?.coveredCount ?? 0) - iterations.length),
  }
}

function foldedIn(left: readonly Iteration[], before: ProgressState | null, tokensMax: number): ProgressState {
  const previousSummary = before?.summary ?? null
  const summary = summarizeProgressExtractively(progressRequest(left, { previousSummary, tokensMax }))
  const coveredCount = (before?.coveredCount ?? 0) + left.length
  return {
    total: coveredCount,
    coveredCount,
    coveredFrom: before?.coveredFrom ?? left[0]?.number ?? 0,
    coveredTo: left.at(-1)?.number ?? 0,
    summary,
    summaryTokens: countTokens(summary),
  }
}
