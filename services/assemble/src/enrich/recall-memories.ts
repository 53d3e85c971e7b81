import { errorData, type PartialSettings } from '@heddle/contracts'
import {
  type BuildInput,
  excerpt,
  formatReference,
  heldMessages,
  type Memory,
  type MemoryOutcome,
  memoryLimits,
  memoryQuery,
  messageReference,
  reorder,
  roundScore,
  type TextEmbedder,
} from '@heddle/core'
import type { Clock, Logger } from '@heddle/runtime'
import { runCooperatively } from '@heddle/runtime'
import { type FoundRow, findMessages, loadMemoryRows, type MemoryRow, type Store } from '@heddle/store'
import { isOfOthers, scopeSinceMs, scopeThreadIds } from '../load/scope.js'
import { inTime } from './in-time.js'
import { queryOf } from './query-of.js'

export interface RecallMemoriesDeps {
  readonly store: Store
  readonly clock: Clock
  readonly settings: PartialSettings
  readonly log: Pick<Logger, 'warn'>
  readonly embedder?: TextEmbedder | null
}

export interface MemoryRequest {
  readonly projectId: string
  readonly threadId: string
  readonly thread: { readonly projectName: string }
  readonly input: BuildInput
  /** The context without memories. */
  readonly built: { readonly receipt: Parameters<typeof heldMessages>[0] }
  /** When the requester stops waiting, in milliseconds since 1970. */
  readonly deadlineAtMs: number
}

/** Candidates searched per wanted memory, because some are duplicates and some are in the context already. */
const FOUND_FACTOR = 3
/** Characters of a memory; a longer message is cut to the passage that matches the request. */
const TEXT_CHARACTERS_MAX = 1_000
/** Characters of a message that are searched for that passage. */
const SEARCHED_CHARACTERS_MAX = 20_000
/** Largest share of the request's remaining time for memories; the context is built in the rest. */
const SHARE_OF_DEADLINE = 0.5
/** Largest share of that time for vectors; after it, the search uses words only. */
const SHARE_OF_VECTORS = 0.5

/**
 * Finds messages that match the request, in the agent's other threads and among the hidden messages of its own. If the
 * search fails or times out, the context is built without memories, and the receipt says so.
 *
 * @returns null if the request wants no memories
 */
export async function recallMemories(
  deps: RecallMemoriesDeps,
  request: MemoryRequest,
): Promise<NonNullable<BuildInput['memories']> | null> {
  const { input, built, deadlineAtMs, projectId } = request
  const limits = memoryLimits(input.request, input.settings)
  if (limits === null) return null
  const held = heldMessages(built.receipt)
  const none = (skipped: string) => ({ found: [], held, limits, outcome: { ...nothing, skipped } })
  const query = queryOf(input)
  if (query === null) return none('neither the request nor the thread has a text to search by')
  const nowMs = deps.clock.nowMs()
  const leftMs = (deadlineAtMs - nowMs) * SHARE_OF_DEADLINE
  const timeoutMs = Math.max(1, Math.floor(Math.min(limits.timeoutMs, leftMs)))
  try {
    const searching = search(deps, request, {
      query: memoryQuery(query),
      limit: limits.limit,
      held,
      timeoutMs,
      nowMs,
    })
    return { ...(await inTime(searching, { timeoutMs, clock: deps.clock, what: 'the search' })), held, limits }
  } catch (error) {
    const { code, detail } = errorData(error)
    deps.log.warn({ error, projectId }, 'a context is built without memories')
    return none(`${code}: ${detail}`)
  }
}

const nothing: MemoryOutcome = { model: null, skipped: null, degraded: null }

async function search(
  { store, settings, embedder = null, log, clock }: RecallMemoriesDeps,
  { projectId, threadId, thread, input }: MemoryRequest,
  wanted: { query: string; limit: number; held: ReadonlySet<string>; timeoutMs: number; nowMs: number },
) {
  const { request } = input
  const isReadElsewhere = isOfOthers(request) || request.references === 'full'
  const own = { ...thread, threadId, headSeq: input.headSeq, isReadElsewhere }
  // Messages excluded by the scope are not recalled either.
  const isBounded = request.scope?.threads !== undefined || request.scope?.since !== undefined
  const bounds = {
    threadIds: isBounded ? (scopeThreadIds(request, { projectId }) ?? [threadId]) : null,
    sinceMs: scopeSinceMs(request, wanted.nowMs),
  }
  const parts = {
    store,
    projectId,
    settings,
    log,
    clock,
    embedder: embedder && (async (model = embedder.model) => (model === embedder.model ? embedder : null)),
  }
  const { rows, ranking } = await findMessages(parts, {
    query: wanted.query,
    by: 'both',
    conditions: { agent: input.agent.name },
    isNarrowed: isBounded,
    isJudged: true,
    limit: FOUND_FACTOR * wanted.limit,
    vectorsTimeoutMs: Math.ceil(wanted.timeoutMs * SHARE_OF_VECTORS),
    load: async (tx, places) => {
      const found = await loadMemoryRows(tx, { places, own, ...bounds, charactersMax: SEARCHED_CHARACTERS_MAX })
      return found.filter(({ messageId }) => !wanted.held.has(messageId))
    },
  })
  const { model, degraded, terms } = ranking
  const found: Memory[] = []
  const statements = rows.map(({ row, place }) => ({
    text: row.content,
    isOfPerson: row.isOfPerson,
    atMs: row.orderedAtMs,
    seq: place.seq,
  }))
  for (const index of reorder(wanted.query, statements).order) {
    const row = rows[index]
    if (row !== undefined) found.push(await toMemory(row, terms, own))
  }
  return { found, outcome: { model, degraded, skipped: null } }
}

async function toMemory(
  { row, document }: FoundRow<MemoryRow>,
  terms: ReadonlySet<string>,
  own: Pick<MemoryRequest, 'threadId'> & MemoryRequest['thread'] & { readonly isReadElsewhere: boolean },
): Promise<Memory> {
  const { messageId, threadId, threadName, role, orderedAtMs, content } = row
  const isOwn = threadId === own.threadId
  const text = await runCooperatively(excerpt(content, terms, TEXT_CHARACTERS_MAX))
  return {
    messageId,
    threadId,
    thread: threadName,
    isOwn,
    // A short reference is relative to the request's thread, which its reader may not know.
    reference:
      isOwn && !own.isReadElsewhere
        ? messageReference(row.code)
        : formatReference({ project: own.projectName, thread: row.threadCode, message: row.code }),
    role,
    atMs: orderedAtMs,
    score: roundScore(document.score),
    text,
    isExcerpt: content.trim().length > TEXT_CHARACTERS_MAX,
  }
}
