import {
  ConflictError,
  mergeSettings,
  type PartialSettings,
  type PlacedMessage,
  type Restored,
  RetryableError,
} from '@heddle/contracts'
import {
  copyId,
  copyOf,
  isInWindow,
  originalOf,
  type SnapshotMessage,
  windowBounds,
  withTheirPairs,
} from '@heddle/core'
import { loadMessagesById, loadThread, noteRestored, type ThreadRow } from '@heddle/store'
import { checkDeadline } from './deadline.js'
import { appendPlaced } from './messages.js'
import type { ClientParts } from './options.js'
import type { Patience } from './retrying.js'
import { readSnapshot } from './snapshots.js'

export interface RestoreOptions {
  /** How long to wait until all is stored, in milliseconds. Default 120,000. */
  readonly deadlineMs?: number
  readonly signal?: AbortSignal
}

const RESTORE_DEADLINE_MS = 120_000
/** Ids that one statement asks for. */
const IDS_PER_LOOK = 2_000
/** Times that a message has come back and left the window again. */
const GENERATIONS_MAX = 1_000
/** Another snapshot of the same messages may be restored at the same moment: then what it brought is looked at again. */
const TRIES_MAX = 5

/**
 * Brings the messages of a snapshot back into the windows of their threads (spec 000). A message that its window still
 * shows, itself or as a copy, stays where it is; each other one gets a copy, with a mark that holds its id and its time. So
 * restoring again adds nothing.
 *
 * @throws PermanentError `NOT_FOUND`
 * @throws RetryableError `TIMEOUT` where not all is stored by the deadline; restoring again goes on where it ended
 */
export async function restoreSnapshot(
  parts: ClientParts,
  given: string,
  { deadlineMs = RESTORE_DEADLINE_MS, signal }: RestoreOptions = {},
): Promise<Restored> {
  checkDeadline(deadlineMs)
  const { store, projectId, clock } = parts
  const { row, file } = await readSnapshot(parts, given)
  const patience: Patience = { clock, endsAtMs: clock.nowMs() + deadlineMs, signal }
  const startedAtMs = await store.inProject(projectId, (tx) => noteRestored(tx, { id: row.id, nowMs: clock.nowMs() }))
  const threads: string[] = []
  let restored = 0
  if (startedAtMs !== null) {
    for (const [threadId, messages] of byThread(file.messages)) {
      signal?.throwIfAborted()
      const one = { threadId, messages, snapshotId: row.id, startedAtMs }
      const { thread, added } = await restoreThread(parts, one, patience)
      restored += added
      if (thread !== null) threads.push(thread)
    }
  }
  const { length } = file.messages
  return { id: row.id, agent: row.agentName, messages: length, restored, present: length - restored, threads }
}

function byThread(messages: readonly SnapshotMessage[]): Map<string, SnapshotMessage[]> {
  const threads = new Map<string, SnapshotMessage[]>()
  for (const message of messages) {
    const others = threads.get(message.thread_id)
    if (others) others.push(message)
    else threads.set(message.thread_id, [message])
  }
  return threads
}

interface ThreadToRestore {
  readonly threadId: string
  readonly messages: readonly SnapshotMessage[]
  readonly snapshotId: string
  readonly startedAtMs: number
}

async function restoreThread(
  parts: ClientParts,
  one: ThreadToRestore,
  patience: Patience,
): Promise<{ thread: string | null; added: number }> {
  for (let tries = 1; ; tries++) {
    const { thread, copies } = await planCopies(parts, one)
    if (thread === null || copies.length === 0) return { thread: thread?.name ?? null, added: 0 }
    try {
      const { stored } = await appendPlaced(
        parts,
        { agent: thread.agentName, thread: thread.name, given: copies, chosenIds: idsOf(copies) },
        { ack: 'stored', asksForRoom: true, ...patience },
      )
      return { thread: thread.name, added: stored }
    } catch (error) {
      if (!(error instanceof ConflictError) || tries >= TRIES_MAX) throw error
    }
  }
}

function idsOf(copies: readonly PlacedMessage[]): ReadonlySet<string> {
  return new Set(copies.map(({ message }) => message.id))
}

/** What is to be appended; its thread, null where that is gone. */
async function planCopies(
  parts: ClientParts,
  { threadId, messages, snapshotId, startedAtMs }: ThreadToRestore,
): Promise<{ thread: ThreadRow | null; copies: PlacedMessage[] }> {
  const { store, projectId, settings, clock } = parts
  const thread = await store.inProject(projectId, (tx) => loadThread(tx, { threadId }))
  if (thread === null) return { thread, copies: [] }
  const ids = await missingIds(parts, thread, messages, { settings, nowMs: clock.nowMs() })
  const missing = withTheirPairs(messages, (message) => ids.get(originalOf(message).id)?.isShown !== true)
  const orderedAt = new Date(startedAtMs).toISOString()
  const places = new Map(messages.map((message, ordinal) => [message.id, ordinal]))
  const seen = new Set<string>()
  const copies = missing.flatMap((message) => {
    const id = ids.get(originalOf(message).id)?.nextId
    // A snapshot may hold a message and a copy of it: it comes back once.
    if (id === undefined || seen.has(id)) return []
    seen.add(id)
    return [{ message: copyOf(message, { id, snapshotId }), ordinal: places.get(message.id) ?? 0, orderedAt }]
  })
  return { thread, copies }
}

interface Standing {
  /** Whether the window shows the original or a copy of it. */
  readonly isShown: boolean
  /** The id that its next copy gets. */
  readonly nextId: string
}

/** How the originals of some messages stand, by their ids: one look for each time that they came back before. */
async function missingIds(
  { store, projectId }: ClientParts,
  thread: ThreadRow,
  messages: readonly SnapshotMessage[],
  { settings, nowMs }: { settings: PartialSettings; nowMs: number },
): Promise<ReadonlyMap<string, Standing>> {
  const { threadId } = thread
  const { rollingWindow } = mergeSettings(settings, thread.agentSettings, thread.settings)
  const bounds = windowBounds({ ...thread, rollingWindow, nowMs })
  const standings = new Map<string, Standing>()
  let open = new Map([...new Set(messages.map((message) => originalOf(message).id))].map((id) => [id, id]))
  for (let generation = 0; open.size > 0; generation++) {
    if (generation > GENERATIONS_MAX) throw tooOften()
    const stored = new Map<string, boolean>()
    const ids = [...open.values()]
    for (let from = 0; from < ids.length; from += IDS_PER_LOOK) {
      const some = ids.slice(from, from + IDS_PER_LOOK)
      const found = await store.inProject(projectId, (tx) => loadMessagesById(tx, { threadId, ids: some }))
      for (const message of found) stored.set(message.id, isInWindow(message, bounds))
    }
    const next = new Map<string, string>()
    for (const [original, id] of open) {
      const isShown = stored.get(id)
      const following = copyId(threadId, original, generation)
      if (isShown === true) standings.set(original, { isShown, nextId: following })
      // An original that is not there any more is no reason to stop: its first copy may be.
      else if (isShown === false || id === original) next.set(original, following)
      else standings.set(original, { isShown: false, nextId: id })
    }
    open = next
  }
  return standings
}

function tooOften(): RetryableError {
  return new RetryableError('INTERNAL', `a message came back more than ${GENERATIONS_MAX} times`, {
    hint: 'Restore from another snapshot.',
  })
}
