import { limits, mergeSettings, notFound, type PartialSettings, PermanentError, type Settings } from '@heddle/contracts'
import {
  ineligibleReason,
  isInWindow,
  type Message,
  type SnapshotMessage,
  toSnapshotMessage,
  windowBounds,
} from '@heddle/core'
import { type AgentRow, listHistory, listWindowThreads, loadAgent, type Tx, type WindowThread } from '@heddle/store'

/** Threads and messages of one page; a page of messages also has a limit of bytes. */
const THREADS_PER_PAGE = 500
const MESSAGES_PER_PAGE = 200

/** The window of an agent over all of its threads, at one point in time. */
export interface AgentWindow {
  readonly agent: AgentRow
  readonly settings: Settings
  /** Milliseconds since 1970; null for an unlimited window. */
  readonly sinceMs: number | null
  /** By thread, oldest thread first; each in conversation order. */
  readonly threads: readonly { readonly threadId: string; readonly messages: readonly Message[] }[]
  /** Messages of all threads, oldest first. */
  readonly saved: readonly SnapshotMessage[]
}

export interface WindowQuery {
  readonly agentName: string
  /** Settings of the file and the environment, under the agent's. */
  readonly settings: PartialSettings
  readonly nowMs: number
}

/**
 * Reads the messages of all threads in the window of an agent.
 *
 * @param tx reads from one database snapshot
 * @throws PermanentError `NOT_FOUND` without the agent; `PAYLOAD_TOO_LARGE` for more than one snapshot holds
 */
export async function readWindow(tx: Tx, { agentName, settings, nowMs }: WindowQuery): Promise<AgentWindow> {
  const agent = await loadAgent(tx, { name: agentName })
  if (!agent) throw notFound('agent', agentName, 'see `heddle agents list`')
  const merged = mergeSettings(settings, agent.settings)
  const capacity = new Capacity()
  const read: { threadId: string; messages: readonly Message[]; saved: SnapshotMessage[] }[] = []
  for (let after: WindowThread | undefined; ; ) {
    const page = await listWindowThreads(tx, { agentId: agent.agentId, limit: THREADS_PER_PAGE, after })
    for (const thread of page) {
      const { rollingWindow } = mergeSettings(settings, agent.settings, thread.settings)
      const bounds = windowBounds({ ...agent, rollingWindow, clearedSeq: thread.clearedSeq, nowMs })
      if (bounds.sinceMs !== null && thread.lastMessageAtMs <= bounds.sinceMs) continue
      const own = await readThread(
        tx,
        thread.threadId,
        (message) => isInWindow(message, bounds),
        bounds.sinceMs,
        capacity,
      )
      if (own.messages.length > 0) read.push({ threadId: thread.threadId, ...own })
    }
    after = page.at(-1)
    if (page.length < THREADS_PER_PAGE) break
  }
  const { sinceMs } = windowBounds({ ...agent, rollingWindow: merged.rollingWindow, clearedSeq: 0, nowMs })
  // Sorting keeps the order of messages with one time: that of their thread.
  const saved = read.flatMap((thread) => thread.saved)
  saved.sort((left, right) => (left.timestamp < right.timestamp ? -1 : left.timestamp > right.timestamp ? 1 : 0))
  return { agent, settings: merged, sinceMs, threads: read, saved }
}

/** Reads from the newest message back to the start of the window. */
async function readThread(
  tx: Tx,
  threadId: string,
  isShown: (message: Message) => boolean,
  sinceMs: number | null,
  capacity: Capacity,
): Promise<{ messages: Message[]; saved: SnapshotMessage[] }> {
  const messages: Message[] = []
  const saved: SnapshotMessage[] = []
  for (let afterSeq: number | undefined; ; ) {
    const page = await listHistory(tx, { threadId, afterSeq, limit: MESSAGES_PER_PAGE, order: 'desc', withMarks: true })
    for (const message of page?.messages ?? []) {
      if (ineligibleReason(message) !== null || !isShown(message)) continue
      const one = toSnapshotMessage(threadId, message)
      capacity.reserve(one)
      messages.push(message)
      saved.push(one)
    }
    const last = page?.messages.at(-1)
    if (!page?.hasMore || last === undefined) break
    if (sinceMs !== null && last.orderedAtMs <= sinceMs) break
    afterSeq = last.seq
  }
  return { messages: messages.reverse(), saved: saved.reverse() }
}

/** Remaining capacity of a snapshot. */
class Capacity {
  #charactersLeft = limits.snapshotCharactersMax

  reserve(message: SnapshotMessage): void {
    this.#charactersLeft -= JSON.stringify(message).length
    if (this.#charactersLeft >= 0) return
    throw new PermanentError('PAYLOAD_TOO_LARGE', 'the window is larger than a snapshot can be', {
      field: 'window',
      received: `more than ${limits.snapshotCharactersMax} characters`,
      hint: 'Shorten rollingWindow, or export threads with `heddle threads export`.',
    })
  }
}
