import type { Message } from './message.js'

/** The bounds of a thread's window (docs/windows.md): messages since `max(lastClearedAt, now - rollingWindow)`. */
export interface WindowBounds {
  /** Start of the window in milliseconds since 1970; null for no bound. */
  readonly sinceMs: number | null
  /** The thread's head at the latest clear: messages up to it are cleared, whatever their time. */
  readonly clearedSeq: number
}

export function windowBounds(window: {
  rollingWindow: number | null
  lastClearedAtMs: number | null
  clearedSeq: number
  nowMs: number
}): WindowBounds {
  const rolling = window.rollingWindow === null ? null : window.nowMs - window.rollingWindow * 1_000
  const bounds = [rolling, window.lastClearedAtMs].filter((bound) => bound !== null)
  return { sinceMs: bounds.length === 0 ? null : Math.max(...bounds), clearedSeq: window.clearedSeq }
}

/**
 * Why a message never enters a context; null if it may: an agent's own compaction summary is kept aside, and errors and
 * approvals are history for people (docs/items.md).
 */
export function ineligibleReason(message: Pick<Message, 'role' | 'keptAside'>): string | null {
  if (message.keptAside !== null) return message.keptAside
  return message.role === 'error' || message.role === 'approval' ? message.role : null
}

export function isInWindow(message: Message, bounds: WindowBounds): boolean {
  return message.seq > bounds.clearedSeq && (bounds.sinceMs === null || message.orderedAtMs > bounds.sinceMs)
}
