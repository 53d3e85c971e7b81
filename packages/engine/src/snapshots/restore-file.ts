import type { RestoreOptions } from '@heddle/client/interface'
import {
  ConflictError,
  idSchema,
  limits,
  nameSchema,
  PermanentError,
  parse,
  type Restored,
  type SnapshotFile,
  snapshotFileBodySchema,
} from '@heddle/contracts'
import { agentIdOf, originalOf, type SnapshotMessage, slugOf, threadIdOf } from '@heddle/core'
import {
  findErasedMessages,
  findTombstones,
  loadSnapshotRow,
  loadThread,
  noteFileRestored,
  type Tx,
  withoutErasedThreads,
} from '@heddle/store'
import type { EngineContext } from '../setup/options.js'
import { byThread, restoreSnapshot, restoreThread, retriesOf } from './snapshot-restore.js'

/**
 * Restores the messages of a snapshot's file (docs/snapshots.md#restoring-a-file), also of another installation. If its snapshot is
 * stored, this is a restore of that. Otherwise messages of threads that the agent still has are restored in these, and those of
 * others in new threads of the agent; a repeat adds nothing. Erased messages stay erased.
 *
 * @throws PermanentError `VALIDATION_ERROR` for a text that is not such a file, or not a whole one; `PAYLOAD_TOO_LARGE`
 * @throws ConflictError if another agent has a thread of the name of a new one
 * @throws RetryableError `TIMEOUT` if not everything is stored by the deadline; restoring again continues
 */
export async function restoreSnapshotFile(
  parts: EngineContext,
  agent: string,
  given: SnapshotFile,
  options: RestoreOptions = {},
): Promise<Restored> {
  const agentName = parse(nameSchema, agent, 'agent')
  const file = readFile(given)
  const { store, projectId, clock } = parts
  const row = await store.inProject(projectId, (tx) => loadSnapshotRow(tx, { id: file.session_id }))
  if (row?.status === 'saved' && row.agentName === agentName) return await restoreSnapshot(parts, row.id, options)
  const retryPolicy = retriesOf(parts, options)
  const agentId = agentIdOf(projectId, agentName)
  const groups = await store.inProject(projectId, (tx) => placesOf(tx, { projectId, agentId, file }))
  const noted = { id: file.session_id, agentId, nowMs: clock.nowMs() }
  const startedAtMs = await store.inProject(projectId, (tx) => noteFileRestored(tx, noted))
  const threads: string[] = []
  let [restored, kept] = [0, 0]
  for (const { threadId, name, messages } of groups) {
    options.signal?.throwIfAborted()
    const one = { threadId, messages, snapshotId: file.session_id, startedAtMs, newThread: { name, agentName } }
    const { thread, added } = await restoreThread(parts, one, retryPolicy)
    restored += added
    kept += messages.length
    threads.push(thread ?? name)
  }
  const { length } = file.messages
  const counts = { messages: length, restored, present: kept - restored, erased: length - kept }
  return { id: file.session_id, agent: agentName, ...counts, threads }
}

function readFile(given: SnapshotFile): SnapshotFile {
  const file = parse(snapshotFileBodySchema, given, 'file')
  if (file.message_count !== file.messages.length) {
    throw new PermanentError('VALIDATION_ERROR', 'the file is not whole', {
      field: 'file.message_count',
      received: `${file.message_count}, and ${file.messages.length} messages`,
      hint: 'Restore a file as Heddle wrote it.',
    })
  }
  let characters = 0
  for (const message of file.messages) characters += JSON.stringify(message).length
  if (characters <= limits.snapshotCharactersMax) return file
  throw new PermanentError('PAYLOAD_TOO_LARGE', 'the file is larger than a snapshot can be', {
    field: 'file',
    received: `${characters} characters`,
    hint: `A snapshot has at most ${limits.snapshotCharactersMax} characters.`,
  })
}

interface Place {
  readonly threadId: string
  readonly name: string
  readonly messages: readonly SnapshotMessage[]
}

/** Where the messages of a file belong, without those that were erased. */
async function placesOf(
  tx: Tx,
  { projectId, agentId, file }: { projectId: string; agentId: string; file: SnapshotFile },
): Promise<Place[]> {
  const groups = byThread(file.messages)
  const ids = [...groups.keys()].filter((id) => idSchema.safeParse(id).success)
  const known = new Map<string, string>()
  for (const threadId of ids) {
    const thread = await loadThread(tx, { threadId })
    if (thread?.agentId === agentId) known.set(threadId, thread.name)
  }
  const erased = new Set(ids.length === 0 ? [] : (await findTombstones(tx, ids)).map(({ targetId }) => targetId))
  const ofKnown = file.messages.filter(({ thread_id }) => known.has(thread_id))
  const standing =
    ofKnown.length === 0 ? null : await withoutErasedThreads(tx, { agentId, file: { ...file, messages: ofKnown } })
  const places = [...byThread(standing?.messages ?? [])].map(([threadId, messages]) => ({
    threadId,
    name: known.get(threadId) ?? '',
    messages,
  }))
  const ofOthers = { threadIds: ids.filter((id) => !known.has(id)), ids: file.messages.flatMap(originalIds) }
  const gone = new Set((await findErasedMessages(tx, ofOthers)).map(keyOf))
  for (const [given, all] of groups) {
    if (known.has(given) || erased.has(given)) continue
    const messages = all.filter((message) =>
      originalIds(message).every((messageId) => !gone.has(keyOf({ threadId: given, messageId }))),
    )
    if (messages.length === 0) continue
    const name = `session-${slugOf(given, 'thread')}`
    const threadId = threadIdOf(projectId, name)
    const existing = await loadThread(tx, { threadId })
    if (existing !== null && existing.agentId !== agentId) throw ofAnother(existing)
    places.push({ threadId, name, messages })
  }
  return places
}

function ofAnother({ name, agentName }: { readonly name: string; readonly agentName: string }): ConflictError {
  return new ConflictError(`thread "${name}" belongs to agent "${agentName}"`, {
    field: 'agent',
    received: agentName,
    hint: 'Restore the file for that agent, or in another project.',
  })
}

/** A copy that an earlier restore made is erased with its original. */
function originalIds(message: SnapshotMessage): string[] {
  return [message.id, originalOf(message).id]
}

function keyOf({ threadId, messageId }: { readonly threadId: string; readonly messageId: string }): string {
  return `${threadId} ${messageId}`
}
