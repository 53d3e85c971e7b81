import { checkDeadline, idsOfKey, newId, retryUntil } from '@heddle/client/calls'
import type { Page, SaveOptions, SnapshotListOptions } from '@heddle/client/interface'
import {
  ConflictError,
  errorFromData,
  idSchema,
  mergeSettings,
  nameSchema,
  notFound,
  parse,
  type Snapshot,
  type SnapshotRequest,
  snapshotRequestSchema,
} from '@heddle/contracts'
import { agentIdOf, type SnapshotFile, snapshotFileName } from '@heddle/core'
import {
  listSnapshots,
  loadAgent,
  loadSnapshot,
  loadSnapshotRow,
  requestSnapshot,
  type SnapshotRow,
  type Tx,
} from '@heddle/store'
import { type CursorList, cursorOf, placeAt } from '../setup/cursors.js'
import { isoTime } from '../setup/iso-time.js'
import { checkPageLimit, type EngineContext } from '../setup/options.js'

const SAVE_DEADLINE_MS = 120_000
/** Reading a window may take seconds, so the row is polled less often than that of a context. */
const READ_EVERY_MS = 2_000
const HISTORY_LIMIT = 50

/**
 * Saves the window of all threads of an agent with a summary of them (docs/snapshots.md). Nothing is cleared. Request and
 * answer are the same row.
 *
 * @throws PermanentError `NOT_FOUND` without the agent; `VALIDATION_ERROR` if its window is empty; `PAYLOAD_TOO_LARGE`
 * @throws RetryableError `TIMEOUT` at the deadline; `RATE_LIMITED` if the project had reached its share until then
 * @throws ConflictError if the key was used for a snapshot with another description
 */
export async function saveSnapshot(
  parts: EngineContext,
  request: SnapshotRequest,
  { deadlineMs = SAVE_DEADLINE_MS, signal, idempotencyKey }: SaveOptions = {},
): Promise<Snapshot> {
  const { agent, description = null } = parse(snapshotRequestSchema, request, 'snapshot')
  checkDeadline(deadlineMs)
  const { store, queues, projectId, clock } = parts
  const agentId = agentIdOf(projectId, agent)
  const id = idempotencyKey === undefined ? newId() : idsOfKey(idempotencyKey, 'snapshot', agentId)(0)
  const endsAtMs = clock.monotonicMs() + deadlineMs
  const take = async () => queues.acquireShare({ stage: 'assemble', projectId, bytes: 0 })
  const release = await retryUntil(take, { clock, endsAtMs, signal })
  // False until this request was compared with the row of its key, which may be of another request.
  let isRequested = false
  const expected = queues.expectReply({
    requestId: id,
    deadlineMs: Math.max(1, endsAtMs - clock.monotonicMs()),
    signal,
    readEveryMs: READ_EVERY_MS,
    read: async () =>
      isRequested ? answerOf(await store.inProject(projectId, (tx) => loadSnapshotRow(tx, { id }))) : undefined,
  })
  const send = async () => {
    await requestRow(parts, { id, agent, description, deadlineMs, idempotencyKey })
    isRequested = true
    await queues.add('assemble', { projectId, snapshotId: id, replyTo: queues.inbox })
    return await expected.result
  }
  try {
    return await Promise.race([expected.result, send()])
  } finally {
    expected.cancel()
    release()
  }
}

interface RequestedRow {
  readonly id: string
  readonly agent: string
  readonly description: string | null
  readonly deadlineMs: number
  readonly idempotencyKey?: string | undefined
}

/** @throws PermanentError `NOT_FOUND` without the agent @throws ConflictError */
async function requestRow(
  { store, projectId, clock, settings }: EngineContext,
  { id, agent, description, deadlineMs, idempotencyKey }: RequestedRow,
): Promise<void> {
  await store.inProject(projectId, async (tx) => {
    const row = await loadAgent(tx, { name: agent })
    if (!row) throw notFound('agent', agent, 'see `heddle agents list`')
    const createdAtMs = clock.nowMs()
    const isNew = await requestSnapshot(tx, {
      id,
      agentId: row.agentId,
      description,
      storedIn: mergeSettings(settings, row.settings).snapshots.store,
      fileName: snapshotFileName({ id, createdAtMs, description }),
      createdAtMs,
      deadlineAtMs: createdAtMs + deadlineMs,
    })
    if (!isNew && idempotencyKey !== undefined) await checkSame(tx, { id, description, idempotencyKey })
  })
}

export interface SnapshotOrder {
  readonly agent: string
  readonly description: string
  /** A worker is woken after so many milliseconds. */
  readonly delayMs: number
}

/**
 * Requests a snapshot without waiting for it: a worker saves it within the deadline. Where the process ends before it has woken
 * one, the reconciler does.
 *
 * @throws PermanentError `NOT_FOUND` without the agent
 */
export async function orderSnapshot(
  parts: EngineContext,
  { agent, description, delayMs }: SnapshotOrder,
): Promise<string> {
  const { queues, projectId, clock, log } = parts
  const id = newId()
  await requestRow(parts, { id, agent, description, deadlineMs: SAVE_DEADLINE_MS })
  clock.after(delayMs, () => {
    queues
      .add('assemble', { projectId, snapshotId: id, replyTo: queues.inbox })
      .catch((error: unknown) => log?.debug({ error, snapshotId: id }, 'no worker was woken for a snapshot'))
  })
  return id
}

/** @throws ConflictError */
async function checkSame(
  tx: Tx,
  { id, description, idempotencyKey }: { id: string; description: string | null; idempotencyKey: string },
): Promise<void> {
  const row = await loadSnapshotRow(tx, { id })
  if (row === null || row.description === description) return
  throw new ConflictError('this idempotency key was used for a snapshot with another description', {
    field: 'idempotencyKey',
    received: idempotencyKey,
    hint: 'Use a new key for each snapshot.',
  })
}

/** @returns undefined until the snapshot is saved */
function answerOf(row: SnapshotRow | null): Snapshot | undefined {
  if (row?.error) throw errorFromData(row.error)
  return row?.status === 'saved' ? toSnapshot(row) : undefined
}

/**
 * The saved windows of an agent, newest first.
 *
 * @throws PermanentError `NOT_FOUND` without the agent, `VALIDATION_ERROR`
 */
export async function listAllSnapshots(
  { store, projectId }: EngineContext,
  agent: string,
  { limit = HISTORY_LIMIT, ...page }: SnapshotListOptions = {},
): Promise<Page<Snapshot>> {
  const name = parse(nameSchema, agent, 'agent')
  checkPageLimit(limit)
  const agentId = agentIdOf(projectId, name)
  const list: CursorList = { kind: 'snapshots', ownerId: agentId }
  const [, time, id = ''] = placeAt(list, page, PLACE) ?? []
  const before = time === undefined ? undefined : { createdAtMs: Number(time), id }
  const rows = await store.inProject(projectId, async (tx) => {
    if (!(await loadAgent(tx, { name }))) throw notFound('agent', name, 'see `heddle agents list`')
    return await listSnapshots(tx, { agentId, limit: limit + 1, before })
  })
  const items = rows.slice(0, limit)
  const last = items.at(-1)
  const nextCursor = rows.length > limit && last ? cursorOf(list, `${last.createdAtMs}_${last.id}`) : null
  return { items: items.map(toSnapshot), nextCursor }
}

const PLACE = /^(\d{1,15})_([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/

/** A snapshot with its messages, as its file has it (docs/snapshots.md). @throws PermanentError `NOT_FOUND` */
export async function getSnapshot(parts: EngineContext, given: string): Promise<SnapshotFile> {
  const { file } = await readSnapshot(parts, given)
  return file
}

/** @throws PermanentError `NOT_FOUND`; the error of a snapshot that could not be saved */
export async function readSnapshot(
  { store, projectId }: EngineContext,
  given: string,
): Promise<{ readonly row: SnapshotRow; readonly file: SnapshotFile }> {
  const id = parse(idSchema, given, 'snapshot')
  return await store.inProject(projectId, async (tx) => {
    const row = await loadSnapshotRow(tx, { id })
    if (row?.error) throw errorFromData(row.error)
    const file = row === null ? null : await loadSnapshot(tx, { id })
    if (row === null || file === null) throw notFound('snapshot', id, 'see `heddle context history`')
    return { row, file }
  })
}

function toSnapshot(row: SnapshotRow): Snapshot {
  return {
    id: row.id,
    agent: row.agentName,
    timestamp: isoTime(row.createdAtMs),
    description: row.description,
    summary: row.summary ?? '',
    summaryError: row.summaryError,
    messageCount: row.messageCount,
    threadCount: row.threadIds.length,
    windowStart: isoTime(row.windowStartMs),
    windowEnd: isoTime(row.windowEndMs ?? row.createdAtMs),
    store: row.storedIn,
    fileName: row.fileName,
  }
}
