import {
  type ArchiveListRequest,
  type ArchiveSearchRequest,
  archiveListSchema,
  archiveSearchSchema,
  momentMs,
  notFound,
  parse,
  validationError,
} from '@heddle/contracts'
import { agentIdOf, formatReference, rankByWords, threadIdOf, type WordDocument } from '@heddle/core'
import {
  type ArchivePlace,
  type ArchiveSelection,
  inSlices,
  loadThread,
  readArchiveContent,
  type SelectedEntry,
  selectArchive,
} from '@heddle/store'
import type { ClientParts, Page } from './options.js'

/** An archived content, without the content: `client.recall` brings that back by its `ref`. */
export interface ArchiveHit {
  readonly ref: string
  readonly messageId: string
  readonly sourceId: string | null
  readonly thread: string
  readonly kind: string
  readonly toolName: string | null
  readonly filePaths: readonly string[]
  readonly failed: boolean
  /** The line that stands for it in contexts, else its summary. */
  readonly text: string
  readonly summary: string
  readonly tokenCount: number
  /** The message's place in time, as ISO 8601. */
  readonly at: string
  readonly archivedAt: string
  readonly accessCount: number
  readonly lastAccessedAt: string | null
}

/**
 * Selective recall (spec 001): the archive's entries that meet all conditions, newest first. One page looks at 10,000
 * entries at most, so a page may be short, or empty, and the list go on all the same: `nextCursor` is null at its end.
 */
export async function listArchive(parts: ClientParts, request: ArchiveListRequest): Promise<Page<ArchiveHit>> {
  const { after, limit, ...selection } = parse(archiveListSchema, request, 'archive')
  const page = await parts.store.inProject(parts.projectId, (tx) =>
    selectArchive(tx, {
      ...toSelection(parts, selection),
      limit,
      ...(after !== undefined && { before: readCursor(after) }),
    }),
  )
  if (page.entries.length === 0) await checkThread(parts, selection.thread)
  return {
    items: page.entries.map((entry) => toHit(parts, entry)),
    nextCursor: page.next === null ? null : `${page.next.atMs}_${page.next.id}`,
  }
}

/** @throws PermanentError `NOT_FOUND` where the thread of a selection is not there: that is another answer than none */
async function checkThread({ store, projectId }: ClientParts, thread: string | undefined): Promise<void> {
  if (thread === undefined) return
  const found = await store.inProject(projectId, (tx) => loadThread(tx, { threadId: threadIdOf(projectId, thread) }))
  if (found === null) throw notFound('thread', thread, 'see `heddle threads list`')
}

/** Entries that one search ranks: the newest that meet its conditions. */
const ENTRIES_RANKED_MAX = 1_000
/** Contents that one search reads, and their bytes together: what ranks first by its line is read first, then the newest. */
const CONTENTS_READ_MAX = 100
const CONTENT_BYTES_MAX = 8 * 1024 * 1024
/** Characters of one content whose words count. */
const CONTENT_CHARACTERS_MAX = 256 * 1024

export interface ArchiveSearchResult {
  readonly items: readonly (ArchiveHit & { readonly score: number })[]
  /** What the search looked at. */
  readonly looked: { readonly entries: number; readonly contents: number }
  /** Whether that was all that meets the conditions; narrower ones, such as a thread or a time, help where it was not. */
  readonly isComplete: boolean
}

/**
 * Finds archived contents by words, best first. It ranks the newest 1,000 entries that meet the conditions by what they are
 * (summary, paths, tool), and by their contents as far as 100 of them and 8 MB reach; the result says what it looked at.
 */
export async function searchArchive(parts: ClientParts, request: ArchiveSearchRequest): Promise<ArchiveSearchResult> {
  const { query, limit, ...selection } = parse(archiveSearchSchema, request, 'archive search')
  const { entries, next } = await parts.store.inProject(parts.projectId, (tx) =>
    selectArchive(tx, { ...toSelection(parts, selection), limit: ENTRIES_RANKED_MAX }),
  )
  if (entries.length === 0) await checkThread(parts, selection.thread)
  const labels = entries.map((entry): WordDocument => ({ label: labelOf(entry), content: '' }))
  const byLabel = await inSlices(rankByWords(query, labels))
  const contents = await readContents(parts, chooseContents(entries, byLabel))
  const documents = entries.map(
    (entry): WordDocument => ({ label: labelOf(entry), content: contents.get(entry.id) ?? '' }),
  )
  const scores = await inSlices(rankByWords(query, documents))
  const items = entries
    .map((entry, index) => ({ entry, score: scores[index] ?? 0 }))
    .filter(({ score }) => score > 0)
    .sort((left, right) => right.score - left.score)
    .slice(0, limit)
    .map(({ entry, score }) => ({ ...toHit(parts, entry), score }))
  return {
    items,
    looked: { entries: entries.length, contents: contents.size },
    isComplete: next === null && contents.size === entries.length,
  }
}

function labelOf({ line, summary, filePaths, toolName, contentType }: SelectedEntry): string {
  return [contentType, toolName ?? '', ...filePaths, line ?? '', summary].join('\n')
}

function chooseContents(entries: readonly SelectedEntry[], byLabel: readonly number[]): SelectedEntry[] {
  const order = entries.map((entry, index) => ({ entry, score: byLabel[index] ?? 0 }))
  const chosen: SelectedEntry[] = []
  let bytes = 0
  for (const { entry } of order.sort((left, right) => right.score - left.score)) {
    if (chosen.length >= CONTENTS_READ_MAX) break
    if (bytes + entry.sizeBytes > CONTENT_BYTES_MAX) continue
    bytes += entry.sizeBytes
    chosen.push(entry)
  }
  return chosen
}

async function readContents(
  { store, projectId }: ClientParts,
  entries: readonly SelectedEntry[],
): Promise<ReadonlyMap<string, string>> {
  const contents = new Map<string, string>()
  await store.inProject(projectId, async (tx) => {
    for (const { id, contentHash } of entries) {
      const content = await readArchiveContent(tx, contentHash)
      if (content !== null) contents.set(id, content.slice(0, CONTENT_CHARACTERS_MAX))
    }
  })
  return contents
}

type Conditions = Omit<ArchiveSearchRequest, 'query' | 'limit'>

function toSelection({ projectId, clock }: ClientParts, conditions: Conditions): Omit<ArchiveSelection, 'limit'> {
  const { agent, thread, kinds, tool, path, failed, since, until } = conditions
  const nowMs = clock.nowMs()
  return {
    ...(agent !== undefined && { agentId: agentIdOf(projectId, agent) }),
    ...(thread !== undefined && { threadId: threadIdOf(projectId, thread) }),
    ...(kinds !== undefined && { kinds }),
    ...(tool !== undefined && { toolName: tool }),
    ...(path !== undefined && { path }),
    ...(failed !== undefined && { failed }),
    ...(since !== undefined && { sinceMs: momentMs(since, nowMs) }),
    ...(until !== undefined && { untilMs: momentMs(until, nowMs) }),
  }
}

const CURSOR = /^(-?\d{1,15})_([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/

function readCursor(after: string): ArchivePlace {
  const [, atMs, id] = CURSOR.exec(after) ?? []
  if (atMs === undefined || id === undefined) {
    throw validationError('after', 'must be the nextCursor of the page before', after)
  }
  return { atMs: Number(atMs), id }
}

function toHit({ project }: ClientParts, entry: SelectedEntry): ArchiveHit {
  const isoTime = (timeMs: number) => new Date(timeMs).toISOString()
  return {
    ref: formatReference({ project, thread: entry.threadCode, message: entry.code }),
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
    lastAccessedAt: entry.lastAccessedAtMs === null ? null : isoTime(entry.lastAccessedAtMs),
  }
}
