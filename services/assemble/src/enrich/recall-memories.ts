import { errorData, type PartialSettings } from '@heddle/contracts'
import {
  type BuildInput,
  excerpt,
  heldMessages,
  type Memory,
  type MemoryOutcome,
  memoryLimits,
  memoryQuery,
  reorder,
  type TextEmbedder,
} from '@heddle/core'
import type { Clock, Logger } from '@heddle/runtime'
import { runCooperatively } from '@heddle/runtime'
import { findMessages, loadMemoryRows, type Store } from '@heddle/store'
import { isOfOthers, scopeSinceMs, scopeThreadIds } from '../load/scope.js'
import { inTime } from './in-time.js'
import { toMemory } from './memory-of-row.js'
import { queryOf } from './query-of.js'
import { recallInstructions } from './recall-instructions.js'

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
      instructions: limits.instructions ? Math.ceil(limits.limit / 2) : 0,
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
  wanted: {
    query: string
    limit: number
    /** The most lasting instructions. */
    instructions: number
    held: ReadonlySet<string>
    timeoutMs: number
    nowMs: number
  },
) {
  const { request } = input
  const isReadElsewhere = isOfOthers(request) || request.references === 'full'
  const own = { projectName: thread.projectName, threadId, headSeq: input.headSeq, isReadElsewhere }
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
    // The newest messages of the thread are in the context anyway.
    withUnindexed: false,
    limit: FOUND_FACTOR * wanted.limit,
    vectorsTimeoutMs: Math.ceil(wanted.timeoutMs * SHARE_OF_VECTORS),
    load: async (tx, places) => {
      const found = await loadMemoryRows(tx, { places, own, ...bounds, charactersMax: SEARCHED_CHARACTERS_MAX })
      return found.filter(({ messageId }) => !wanted.held.has(messageId))
    },
  })
  const { model, degraded, terms } = ranking
  const memories: Memory[] =
    wanted.instructions === 0
      ? []
      : await store.inProject(projectId, (tx) =>
          recallInstructions(
            tx,
            { agentId: ranking.agentId, own, ...bounds },
            { ...wanted, count: wanted.instructions },
          ),
        )
  const instructions = new Set(memories.map(({ messageId }) => messageId))
  const statements = rows.map(({ row, place, document }) => ({
    text: row.content,
    isOfPerson: row.isOfPerson,
    speaker: row.speaker,
    score: document.score,
    atMs: row.orderedAtMs,
    seq: place.seq,
  }))
  for (const index of reorder(wanted.query, statements).order) {
    const found = rows[index]
    if (found === undefined || instructions.has(found.row.messageId)) continue
    const { row, document } = found
    const text = await runCooperatively(excerpt(row.content, terms, TEXT_CHARACTERS_MAX))
    const isExcerpt = row.content.trim().length > TEXT_CHARACTERS_MAX
    memories.push(toMemory(row, { text, score: document.score, isExcerpt, isInstruction: false }, own))
  }
  return { found: memories, outcome: { model, degraded, skipped: null } }
}
