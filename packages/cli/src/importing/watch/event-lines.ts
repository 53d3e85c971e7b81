import { safeText } from '../../output/safe-text.js'
import { formatCount } from '../../output/table.js'
import { importedThread } from '../imported-thread.js'
import type { FollowEvent } from './follow-folder.js'

/** Sums over all events of a run. */
export class FollowTotals {
  readonly #threads = new Set<string>()
  stored = 0
  grown = 0
  failed = 0

  add(event: FollowEvent): void {
    if (event.event === 'failed') this.failed++
    if (event.event !== 'imported') return
    this.#threads.add(event.sent.planned.thread)
    this.stored += event.sent.stored
    this.grown += event.sent.grown
  }

  get threads(): number {
    return this.#threads.size
  }
}

/** An event as a line of JSON for programs. */
export function eventJson(event: FollowEvent, atMs: number): string {
  const at = new Date(atMs).toISOString()
  if (event.event !== 'imported') return JSON.stringify({ at, ...event })
  // Counts of the whole file would be beside counts of what was sent.
  const { skipped: _, toolCalls: __, toolResults: ___, file, ...thread } = importedThread(event.sent)
  return JSON.stringify({ at, event: event.event, file, ...thread })
}

/** An event as a line for people. */
export function eventLine(event: FollowEvent, atMs: number): string {
  const time = new Date(atMs).toISOString().slice(11, 19)
  return `${time}  ${textOf(event)}`
}

function textOf(event: FollowEvent): string {
  const file = safeText(event.file)
  switch (event.event) {
    case 'imported': {
      const { planned, stored, repeated, grown, overview } = event.sent
      const counts = [
        `${formatCount(stored)} stored`,
        ...(grown === 0 ? [] : [`${formatCount(grown)} grown`]),
        ...(repeated === 0 ? [] : [`${formatCount(repeated)} repeated`]),
        ...(overview === null
          ? []
          : [`${formatCount(overview.eligible)} of ${formatCount(overview.imported)} in the window`]),
      ]
      return `thread ${safeText(planned.thread)}: ${counts.join(', ')}`
    }
    case 'replaced':
      return `${file}: another session took its place, which becomes the thread ${safeText(event.thread)}`
    case 'waiting':
      return `${file}: no messages yet (${safeText(event.reason)})`
    case 'retrying':
      return `${file}: will be read again (${safeText(event.reason)})`
    case 'failed':
      return `${file}: ${event.status}: ${safeText(event.error.detail)}`
  }
}
