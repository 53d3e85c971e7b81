import type { RetryPolicy } from '@heddle/client/calls'
import { checkDeadline } from '@heddle/client/calls'
import type { RestoreOptions } from '@heddle/client/interface'
import { ConflictError, type JsonObject, mergeSettings, type PlacedMessage, type Restored } from '@heddle/contracts'
import {
  copyId,
  copyOf,
  markId,
  messageFingerprint,
  originalOf,
  RESTORED_KEY,
  type SnapshotMessage,
  windowBounds,
  withTheirPairs,
} from '@heddle/core'
import {
  findOriginals,
  holdHead,
  insertMarks,
  loadThread,
  type NewMark,
  noteRestored,
  type StoredOriginal,
  storeEvents,
  type ThreadRow,
  type Tx,
} from '@heddle/store'
import { appendPlaced } from '../messages/messages.js'
import type { EngineContext } from '../setup/options.js'
import { readSnapshot } from './snapshots.js'

const RESTORE_DEADLINE_MS = 120_000

/**
 * Restores the messages of a snapshot into the windows of their threads (docs/snapshots.md). A message is stored once: each
 * message that its window does not show gets a mark at the end of the conversation, which refers to it. Messages that the
 * window shows, directly or by an earlier mark, are not changed, so restoring again adds nothing.
 *
 * @throws PermanentError `NOT_FOUND`
 * @throws RetryableError `TIMEOUT` if not everything is stored by the deadline; restoring again continues
 */
export async function restoreSnapshot(
  parts: EngineContext,
  given: string,
  options: RestoreOptions = {},
): Promise<Restored> {
  const { signal } = options
  const { store, projectId, clock } = parts
  const retryPolicy = retriesOf(parts, options)
  const { row, file } = await readSnapshot(parts, given)
  const startedAtMs = await store.inProject(projectId, (tx) => noteRestored(tx, { id: row.id, nowMs: clock.nowMs() }))
  const threads: string[] = []
  let [restored, gone] = [0, 0]
  if (startedAtMs !== null) {
    for (const [threadId, messages] of byThread(file.messages)) {
      signal?.throwIfAborted()
      const one = { threadId, messages, snapshotId: row.id, startedAtMs }
      const { thread, added } = await restoreThread(parts, one, retryPolicy)
      restored += added
      if (thread === null) gone += messages.length
      else threads.push(thread)
    }
  }
  const { length } = file.messages
  const counts = { messages: length, restored, present: length - restored - gone, erased: row.erasedCount + gone }
  return { id: row.id, agent: row.agentName, ...counts, threads }
}

/** @throws PermanentError `VALIDATION_ERROR` for a deadline that is not one */
export function retriesOf(
  { clock }: Pick<EngineContext, 'clock'>,
  { deadlineMs = RESTORE_DEADLINE_MS, signal }: RestoreOptions,
): RetryPolicy {
  checkDeadline(deadlineMs)
  return { clock, endsAtMs: clock.monotonicMs() + deadlineMs, signal }
}

export function byThread(messages: readonly SnapshotMessage[]): Map<string, SnapshotMessage[]> {
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
  /** In conversation order. */
  readonly messages: readonly SnapshotMessage[]
  readonly snapshotId: string
  readonly startedAtMs: number
  /** Created if there is no such thread; without it, its messages are gone. */
  readonly newThread?: Pick<ThreadRow, 'name' | 'agentName'>
}

export async function restoreThread(
  parts: EngineContext,
  one: ThreadToRestore,
  retryPolicy: RetryPolicy,
): Promise<{ thread: string | null; added: number }> {
  const { store, projectId } = parts
  const found = await store.inProject(projectId, (tx) => findStored(tx, parts, one))
  const thread = found?.thread ?? one.newThread
  if (thread === undefined) return { thread: null, added: 0 }
  const copied = await storeCopies(parts, { ...one, thread, copies: copiesOf(one, found?.originals) }, retryPolicy)
  const marked = await store.inProject(projectId, async (tx) => await markHidden(tx, parts, one))
  if (marked === null) return { thread: null, added: 0 }
  if (marked.added > 0) await announce(parts, one.threadId, marked.headSeq)
  return { thread: thread.name, added: copied + marked.added }
}

interface Found {
  readonly thread: ThreadRow
  /** Messages of the snapshot that the thread has, by the id of the first original. */
  readonly originals: ReadonlyMap<string, StoredOriginal>
}

/** Finds the messages of a snapshot in their thread: the originals, or copies that replace missing ones. */
async function findStored(
  tx: Tx,
  { settings, clock }: EngineContext,
  { threadId, messages }: ThreadToRestore,
): Promise<Found | null> {
  const thread = await loadThread(tx, { threadId })
  if (thread === null) return null
  const { rollingWindow } = mergeSettings(settings, thread.agentSettings, thread.settings)
  const bounds = windowBounds({ ...thread, rollingWindow, nowMs: clock.nowMs() })
  const ids = [...new Set(messages.map((message) => originalOf(message).id))]
  const stored = new Map((await findOriginals(tx, { threadId, ids, bounds })).map((each) => [each.id, each]))
  const absent = ids.filter((id) => !stored.has(id))
  if (absent.length > 0) {
    const copied = new Map(absent.map((id) => [copyId(threadId, id), id]))
    for (const copy of await findOriginals(tx, { threadId, ids: [...copied.keys()], bounds })) {
      stored.set(copied.get(copy.id) ?? copy.id, copy)
    }
  }
  return { thread, originals: stored }
}

/** Copies of messages that the thread does not have: their content is in the snapshot only. */
function copiesOf(one: ThreadToRestore, originals: Found['originals'] = new Map()): PlacedMessage[] {
  const { threadId, messages, snapshotId, startedAtMs } = one
  const orderedAt = new Date(startedAtMs).toISOString()
  const copies = new Map<string, PlacedMessage>()
  for (const [ordinal, message] of messages.entries()) {
    const { id: originalId } = originalOf(message)
    if (originals.has(originalId) || copies.has(originalId)) continue
    const id = copyId(threadId, originalId)
    copies.set(originalId, { message: copyOf(message, { id, snapshotId }), ordinal, orderedAt })
  }
  return [...copies.values()]
}

interface CopiesToStore extends ThreadToRestore {
  readonly thread: Pick<ThreadRow, 'name' | 'agentName'>
  readonly copies: readonly PlacedMessage[]
}

/**
 * A copy says which snapshot it is from, so that a restore of another snapshot at the same moment conflicts with this one where both have
 * a message. It is stored by then, and the others are stored again.
 *
 * @returns the number of copies
 */
async function storeCopies(parts: EngineContext, given: CopiesToStore, retryPolicy: RetryPolicy): Promise<number> {
  const { thread, copies } = given
  if (copies.length === 0) return 0
  const chosenIds = new Set(copies.map(({ message }) => message.id))
  const append = { agent: thread.agentName, thread: thread.name, given: copies, chosenIds }
  try {
    await appendPlaced(parts, append, { ack: 'stored', waitsForCapacity: true, ...retryPolicy })
    return copies.length
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error
    const found = await parts.store.inProject(parts.projectId, (tx) => findStored(tx, parts, given))
    const left = copiesOf(given, found?.originals)
    if (left.length >= copies.length) throw error
    return await storeCopies(parts, { ...given, copies: left }, retryPolicy)
  }
}

/** Runs under the lock of the thread's head: of two concurrent restores, the second sees the marks of the first. */
async function markHidden(
  tx: Tx,
  parts: EngineContext,
  one: ThreadToRestore,
): Promise<{ added: number; headSeq: number } | null> {
  const { threadId, messages, snapshotId, startedAtMs } = one
  const head = await holdHead(tx, threadId)
  const found = head && (await findStored(tx, parts, one))
  if (head === null || found === null) return null
  const standing = (message: SnapshotMessage) => found.originals.get(originalOf(message).id)
  const places = new Map(messages.map((message, ordinal) => [message, ordinal]))
  const marks = new Map<string, NewMark>()
  for (const message of withTheirPairs(messages, (each) => standing(each)?.isShown === false)) {
    const original = standing(message)
    // A snapshot may contain a message twice, if an earlier version had stored a copy of it: it is restored once.
    if (original === undefined || marks.has(original.id)) continue
    const { id, timestamp } = originalOf(message)
    const mark = {
      id: markId(threadId, original.id, head.headSeq + marks.size + 1),
      role: original.role,
      content: '',
      metadata: { [RESTORED_KEY]: { snapshot: snapshotId, message: id, timestamp } } satisfies JsonObject,
    }
    marks.set(original.id, {
      original,
      input: mark,
      ordinal: places.get(message) ?? 0,
      fingerprint: messageFingerprint(mark),
    })
  }
  if (marks.size > 0) {
    await insertMarks(tx, head, { marks: [...marks.values()], proposedAtMs: startedAtMs })
  }
  return { added: marks.size, headSeq: head.headSeq + marks.size }
}

/** Wakes the stages of the thread and notifies subscribers, as after an append. The reconciler repeats lost wakes. */
async function announce(
  { store, queues, projectId, log }: EngineContext,
  threadId: string,
  headSeq: number,
): Promise<void> {
  const event = { topic: 'message.stored' as const, threadId, subjectId: null, headSeq }
  try {
    await Promise.all([
      ...(['prune', 'embed'] as const).map((stage) => queues.wake(stage, { projectId, threadId })),
      storeEvents(store, { projectId, events: [event] }).then((events) =>
        Promise.all(events.map((stored) => queues.publish(stored))),
      ),
    ])
  } catch (error) {
    log?.warn({ error, threadId }, 'waking a restored thread failed; the reconciler will wake it')
  }
}
