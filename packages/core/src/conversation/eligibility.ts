import type { Message } from './message.js'

/** What bounds the window of a thread (docs/windows.md): messages since `max(lastClearedAt, now - rollingWindow)`. */
export interface WindowBounds {
  /** Milliseconds since 1970 before which messages are out of the window; null for no bound. */
  readonly sinceMs: number | null
  /** The thread's head at the latest clear: messages up to it are cleared, whatever time they claim. */
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
 * Why a message never enters a context, or null where it may: an agent's own compaction summary is kept aside, and
 * errors and approvals are history for people (docs/items.md).
 */
export function ineligibleReason(message: Pick<Message, 'role' | 'keptAside'>): string | null {
  if (message.keptAside !== null) return message.keptAside
  return message.role === 'error' || message.role === 'approval' ? message.role : null
}

export function isInWindow(message: Message, bounds: WindowBounds): boolean {
  return message.seq > bounds.clearedSeq && (bounds.sinceMs === null || message.orderedAtMs > bounds.sinceMs)
}
