import { loopTokens } from '../iterations/allocation.js'
import { prefixWithin } from '../iterations/cut.js'
import { countTokens } from '../tokens/tokens.js'
import { oneLine, truncate } from '../tools/lines.js'
import type { Activity, ActivityProcess, BuildInput, ThreadActivity } from './input.js'

/**
 * Maximum entries in the status section; the rest are counted. Lines about other threads are short, because there are
 * many.
 */
export const statusLimits = {
  /** The agent's other active threads. */
  threadsMax: 10,
  /** Processes of the context's own thread. */
  ownProcessesMax: 10,
  otherProcessesMax: 3,
  ownCharactersMax: 1_000,
  otherCharactersMax: 120,
} as const

export const NO_ACTIVITY: Activity = { processes: [], moreProcesses: 0, threads: [], moreThreads: 0 }

/**
 * The subject of the context's own thread, its status and its running processes
 * (docs/formats.md#the-order-of-the-parts); null if nothing is known.
 */
export function ownStatus({ thread, activity = NO_ACTIVITY }: BuildInput): string | null {
  const lines = [
    ...(thread.title === null ? [] : [`Title: ${shortened(thread.title, statusLimits.ownCharactersMax)}`]),
    ...(thread.goal === null ? [] : [`Goal: ${shownGoal(thread.goal)}`]),
    ...(thread.status === null ? [] : [`Status: ${shortened(thread.status, statusLimits.ownCharactersMax)}`]),
    ...processLines('Running: ', activity, statusLimits.ownCharactersMax),
  ]
  return lines.length === 0 ? null : `[Status of thread "${thread.name}"]\n${lines.join('\n')}`
}

/** A goal is as long as a message at most; its beginning states it. */
function shownGoal(goal: string): string {
  const shown = prefixWithin(goal, loopTokens.goalMax, countTokens)
  return shown === goal ? goal : `${shown}…`
}

/** The agent's other active threads, newest first; null if there are no such threads. */
export function othersStatus({ agent, activity = NO_ACTIVITY }: BuildInput): string | null {
  const { threads, moreThreads } = activity
  if (threads.length === 0) return null
  const more = moreThreads > 0 ? [`… and ${moreThreads} more`] : []
  return [`[Other threads of agent "${agent.name}" at work]`, ...threads.flatMap(threadLines), ...more].join('\n')
}

function threadLines(thread: ThreadActivity): string[] {
  const words = [
    thread.title,
    thread.goal === null ? null : `Goal: ${thread.goal}`,
    thread.status === null ? null : `Status: ${thread.status}`,
  ].flatMap((text) => (text === null ? [] : [shortened(text, statusLimits.otherCharactersMax)]))
  const about = words.length === 0 ? '' : `: ${words.join(' | ')}`
  return [`- "${thread.name}"${about}`, ...processLines('  Running: ', thread, statusLimits.otherCharactersMax)]
}

function processLines(
  before: string,
  running: { readonly processes: readonly ActivityProcess[]; readonly moreProcesses: number },
  charactersMax: number,
): string[] {
  const lines = running.processes.map(({ name, status }) => `${before}${name} | ${shortened(status, charactersMax)}`)
  return running.moreProcesses > 0 ? [...lines, `${before}${running.moreProcesses} more`] : lines
}

/** Replaces line breaks, so that a status cannot imitate a line of its own, such as another thread's. */
function shortened(text: string, charactersMax: number): string {
  return truncate(oneLine(text), charactersMax)
}
