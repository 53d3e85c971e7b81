import type { ArchiveHit, ArchiveSearchResult, Page, PageOptions } from '@heddle/client/interface'
import {
  type ArchiveListRequest,
  type ArchiveSearchRequest,
  archiveListSchema,
  archiveSearchSchema,
  momentMs,
  notFound,
  parse,
} from '@heddle/contracts'
import { agentIdOf, formatReference, parseLocation, threadIdOf } from '@heddle/core'
import {
  type ArchivePlace,
  type ArchiveSelection,
  findMessages,
  loadArchivedRows,
  loadThread,
  type SelectedEntry,
  selectArchive,
} from '@heddle/store'
import { type CursorList, cursorOf, placeAt } from '../setup/cursors.js'
import { isoTime } from '../setup/iso-time.js'
import type { EngineContext } from '../setup/options.js'

/**
 * Selective recall (docs/search.md#the-archive): the archive's entries that match all conditions, newest first. A page reads
 * at most 10,000 entries, so it may be short or empty before the end of the list, where `nextCursor` is null.
 */
export async function listArchive(parts: EngineContext, request: ArchiveListRequest): Promise<Page<ArchiveHit>> {
  const { cursor, after, limit, ...selection } = parse(archiveListSchema, request, 'archive')
  const list: CursorList = { kind: 'archive', ownerId: parts.projectId }
  const before = placeIn(list, { cursor, after })
  const page = await parts.store.inProject(parts.projectId, (tx) =>
    selectArchive(tx, {
      ...toSelection(parts, selection),
      limit,
      ...(before !== null && { before }),
    }),
  )
  if (page.entries.length === 0) await checkThread(parts, selection.thread)
  return {
    items: page.entries.map((entry) => toHit(parts, entry)),
    nextCursor: page.next === null ? null : cursorOf(list, `${page.next.atMs}_${page.next.id}`),
  }
}

/** @throws PermanentError `NOT_FOUND` if the thread of a selection does not exist, which differs from an empty result */
async function checkThread({ store, projectId }: EngineContext, thread: string | undefined): Promise<void> {
  if (thread === undefined) return
  const found = await store.inProject(projectId, (tx) => loadThread(tx, { threadId: threadIdOf(projectId, thread) }))
  if (found === null) throw notFound('thread', thread, 'see `heddle threads list`')
}

/**
 * Finds archived contents by words and by vectors, best first: the ranking of {@link search}, limited to messages that were
 * condensed or removed.
 *
 * @throws PermanentError `VALIDATION_ERROR`; `NOT_FOUND` for an unknown agent or thread
 */
export async function searchArchive(parts: EngineContext, request: ArchiveSearchRequest): Promise<ArchiveSearchResult> {
  const { query, limit, by, ...selection } = parse(archiveSearchSchema, request, 'archive search')
  const { agentId: _, threadId: __, ...conditions } = toSelection(parts, selection)
  const { rows, ranking, isComplete } = await findMessages(parts, {
    query,
    by,
    conditions: { ...selection, kinds: rankedKinds(selection.kinds) },
    // Most ranked messages may not be in the archive.
    isNarrowed: true,
    limit,
    load: (tx, places) => loadArchivedRows(tx, { places, ...conditions }),
  })
  const { model, comparedBy, degraded } = ranking
  const items = rows.map(({ row, document }) => ({ ...toHit(parts, row), score: document.score }))
  return { items, isComplete, model, comparedBy, degraded }
}

/** The input of an edit is condensed within the message that called it, which is ranked as its speaker's. */
function rankedKinds(kinds: Conditions['kinds']): Conditions['kinds'] {
  if (!kinds?.includes('edit')) return kinds
  return [...new Set([...kinds, 'assistant' as const])]
}

type Conditions = Omit<ArchiveSearchRequest, 'query' | 'limit' | 'by'>

function toSelection({ projectId, clock }: EngineContext, conditions: Conditions): Omit<ArchiveSelection, 'limit'> {
  const { agent, thread, kinds, tool, path, failed, since, until } = conditions
  const nowMs = clock.nowMs()
  return {
    ...(agent !== undefined && { agentId: agentIdOf(projectId, agent) }),
    ...(thread !== undefined && { threadId: threadIdOf(projectId, thread) }),
    kinds,
    toolName: tool,
    path,
    failed,
    ...(since !== undefined && { sinceMs: momentMs(since, nowMs) }),
    ...(until !== undefined && { untilMs: momentMs(until, nowMs) }),
  }
}

const PLACE = /^(-?\d{1,15})_([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/

function placeIn(list: CursorList, page: PageOptions): ArchivePlace | null {
  const [, atMs, id] = placeAt(list, page, PLACE) ?? []
  return atMs === undefined || id === undefined ? null : { atMs: Number(atMs), id }
}

function toHit({ project }: EngineContext, entry: SelectedEntry): ArchiveHit {
  return {
    ref: formatReference({
      project,
      thread: entry.threadCode,
      message: entry.code,
      location: parseLocation(entry.location),
    }),
    location: entry.location === '' ? null : entry.location,
    messageId: entry.messageId,
    sourceId: entry.sourceId,
    thread: entry.threadName,
    kind: entry.contentType,
    toolName: entry.toolName,
    filePaths: entry.filePaths,
    failed: entry.failed,
    text: entry.line ?? entry.summary,
    summary: entry.summary,
    tokenCount: entry.tokenCount,
    at: isoTime(entry.originalCreatedAtMs),
    archivedAt: isoTime(entry.archivedAtMs),
    accessCount: entry.accessCount,
    lastAccessedAt: isoTime(entry.lastAccessedAtMs),
  }
}
