import type { HiddenReason } from '@heddle/contracts'
import type { Message } from '../conversation/message.js'
import type { HiddenMessages } from './hidden-by-window.js'
import type { BuildInput } from './input.js'

/** The bounds of a thread's window. */
interface Window {
  readonly rollingWindow: number | null
  readonly lastClearedAtMs: number | null
  /** The thread's head at the last clear. */
  readonly clearedSeq: number
  readonly nowMs: number
}

/**
 * Why a message is outside the window; null if it is inside. An old message that was also cleared counts as cleared,
 * because a wider window would not bring it back.
 */
export function hiddenReason(
  { seq, orderedAtMs }: Pick<Message, 'seq' | 'orderedAtMs'>,
  { rollingWindow, lastClearedAtMs, clearedSeq, nowMs }: Window,
): HiddenReason | null {
  if (seq <= clearedSeq || (lastClearedAtMs !== null && orderedAtMs <= lastClearedAtMs)) return 'before-clear'
  return rollingWindow !== null && orderedAtMs <= nowMs - rollingWindow * 1_000 ? 'outside-window' : null
}

type Hiding = Pick<BuildInput, 'hidden' | 'scope' | 'thread'>

/** Counts for a receipt: messages that never enter a context, and messages outside the window, by reason. */
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

/** Notes for the receipt about messages outside the window; threads that show nothing come first. */
export function windowNotes(input: Hiding): string[] {
  const shown = shownThreads(input)
  const isOfSeveral = (input.scope?.threads.length ?? 1) > 1
  return [...shown.filter(isWhole), ...shown.filter((one) => !isWhole(one))].map(
    (one) => `${isOfSeveral ? `thread "${one.thread}": ` : ''}${hiddenText(one)}; ${remedies(one).join('; ')}`,
  )
}

/**
 * Why a context has no messages, and what to do about it; null unless the window hides all messages of all its threads.
 */
export function emptyByWindow(input: Hiding): { readonly why: string; readonly hint: string } | null {
  const shown = shownThreads(input)
  if (shown.length === 0 || !shown.every(isWhole)) return null
  const hint = [...new Set(shown.flatMap(remedies)), 'or give the request a message'].join('; ')
  return { why: shown.map(hiddenText).join('; '), hint }
}

/**
 * Notes about iterations before the last clear. A loop shows no messages, and a wider window would change nothing, so
 * there is no advice.
 */
export function clearedLoopNotes({ hiddenIterations = 0, agent }: Pick<BuildInput, 'hiddenIterations' | 'agent'>) {
  if (hiddenIterations === 0) return []
  return [`not shown: ${hiddenIterations} iterations from before the last clear of agent "${agent.name}"`]
}

/** A scope can leave out the request's own thread; hidden messages of that thread are then not reported. */
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

/** How to bring hidden messages back. */
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
          `to bring back the messages of a snapshot: heddle context history --agent ${shellWord(agent)}; messages in no snapshot are shown only under another agent`,
        ]
      : []),
  ]
}

function shellWord(name: string): string {
  return /^[\w.@%+=:,/-]+$/.test(name) ? name : `'${name.replaceAll("'", "'\\''")}'`
}
