import type { HiddenReason } from '@heddle/contracts'
import type { Message } from '../conversation/message.js'
import type { HiddenMessages } from './hidden-by-window.js'
import type { BuildInput } from './input.js'

/** What bounds the window of a thread. */
interface Window {
  readonly rollingWindow: number | null
  readonly lastClearedAtMs: number | null
  /** The thread's head at the last clear. */
  readonly clearedSeq: number
  readonly nowMs: number
}

/**
 * Why a message is not in the window; null where it is. A message that is old and was cleared counts as cleared: a wider
 * window would not bring it back.
 */
export function hiddenReason(
  { seq, orderedAtMs }: Pick<Message, 'seq' | 'orderedAtMs'>,
  { rollingWindow, lastClearedAtMs, clearedSeq, nowMs }: Window,
): HiddenReason | null {
  if (seq <= clearedSeq || (lastClearedAtMs !== null && orderedAtMs <= lastClearedAtMs)) return 'before-clear'
  return rollingWindow !== null && orderedAtMs <= nowMs - rollingWindow * 1_000 ? 'outside-window' : null
}

type Hiding = Pick<BuildInput, 'hidden' | 'scope' | 'thread'>

/** The counts of a receipt: messages that never enter a context, and those that the window leaves out, by reason. */
export function ineligibleCounts({ ineligible, hidden = [] }: Pick<BuildInput, 'ineligible' | 'hidden'>) {
  const sum = (count: (one: HiddenMessages) => number) => hidden.reduce((total, one) => total + count(one), 0)
  const counts: Readonly<Record<HiddenReason, number>> = {
    'outside-window': sum(({ outsideWindow }) => outsideWindow),
    'before-clear': sum(({ beforeClear }) => beforeClear),
  }
  const added: Record<string, number> = { ...ineligible }
  for (const [reason, count] of Object.entries(counts)) if (count > 0) added[reason] = (added[reason] ?? 0) + count
  return added
}

/** What the reader should know of the messages that the window leaves out; threads that show nothing are named first. */
export function windowNotes(input: Hiding): string[] {
  const shown = shownThreads(input)
  const isOfSeveral = (input.scope?.threads.length ?? 1) > 1
  return [...shown.filter(isWhole), ...shown.filter((one) => !isWhole(one))].map(
    (one) => `${isOfSeveral ? `thread "${one.thread}": ` : ''}${hiddenText(one)}; ${remedies(one).join('; ')}`,
  )
}

/** Why a context has no messages, and what to do; null where the window does not hide all of its threads. */
export function emptyByWindow(input: Hiding): { readonly why: string; readonly hint: string } | null {
  const shown = shownThreads(input)
  if (shown.length === 0 || !shown.every(isWhole)) return null
  const hint = [...new Set(shown.flatMap(remedies)), 'or give the request a message'].join('; ')
  return { why: shown.map(hiddenText).join('; '), hint }
}

/** A loop shows no messages: what hides them is counted, and a wider window would change nothing. */
export function clearedLoopNotes({ hiddenIterations = 0, agent }: Pick<BuildInput, 'hiddenIterations' | 'agent'>) {
  if (hiddenIterations === 0) return []
  return [`not shown: ${hiddenIterations} iterations from before the last clear of agent "${agent.name}"`]
}

/** A scope may be of other threads: then nothing is said of what the request's own thread hides. */
function shownThreads({ hidden = [], scope }: Hiding): HiddenMessages[] {
  return hidden.filter(
    ({ thread, outsideWindow, beforeClear }) =>
      outsideWindow + beforeClear > 0 && (scope === undefined || scope.threads.includes(thread)),
  )
}

function isWhole({ outsideWindow, beforeClear, imported }: HiddenMessages): boolean {
  return outsideWindow + beforeClear >= imported
}

/** `none of the 12 messages is shown: 12 are outside of the rolling window of 86400 seconds` */
export function hiddenText(hidden: HiddenMessages): string {
  const { outsideWindow, beforeClear, rollingWindow } = hidden
  const reasons = [
    ...(outsideWindow > 0 ? [`${are(outsideWindow)} outside of the rolling window of ${rollingWindow} seconds`] : []),
    ...(beforeClear > 0 ? [`${are(beforeClear)} from before the last clear`] : []),
  ]
  return `${shownOf(hidden)}: ${reasons.join(', ')}`
}

function shownOf(hidden: HiddenMessages): string {
  const { outsideWindow, beforeClear, imported } = hidden
  if (imported === 1) return 'the only message of the thread is not shown'
  if (isWhole(hidden)) return `none of the ${imported} messages of the thread is shown`
  const count = outsideWindow + beforeClear
  return `${count} of the ${imported} messages of the thread ${count === 1 ? 'is' : 'are'} not shown`
}

function are(count: number): string {
  return count === 1 ? '1 is' : `${count} are`
}

/** What brings hidden messages back. */
export function remedies({
  agent,
  thread,
  outsideWindow,
  beforeClear,
  windowOf,
}: Pick<HiddenMessages, 'agent' | 'thread' | 'outsideWindow' | 'beforeClear' | 'windowOf'>): string[] {
  const wider = {
    agent: `to show all ages: heddle settings set rollingWindow none --agent ${shellWord(agent)}, or "rollingWindow": null in a request for a context`,
    thread: `to show all ages: "rollingWindow": null in a request for a context, or in the settings of the thread ${shellWord(thread)}`,
    request: 'to show more: a longer "rollingWindow" in the request',
  }
  return [
    ...(outsideWindow > 0 ? [wider[windowOf]] : []),
    ...(beforeClear > 0
      ? [
          `to bring back what a snapshot holds: heddle context history --agent ${shellWord(agent)}; what no snapshot holds is shown under another agent alone`,
        ]
      : []),
  ]
}

/** A name as a shell takes it. */
function shellWord(name: string): string {
  return /^[\w.@%+=:,/-]+$/.test(name) ? name : `'${name.replaceAll("'", "'\\''")}'`
}
