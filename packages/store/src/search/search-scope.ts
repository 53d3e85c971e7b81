import { mergeSettings, notFound, type PartialSettings, type SearchKind, type Settings } from '@heddle/contracts'
import {
  INSTRUCTION_TERM,
  kindTerm,
  pathTerms,
  postedTerms,
  type SearchQuery,
  type TextEmbedder,
  threadIdOf,
  threadsOf,
  unknownShare,
  type WordQuery,
  wordQuery,
} from '@heddle/core'
import type { Tx } from '../connection/connection.js'
import { loadSharedRuns } from '../forks/lineage.js'
import { loadAgent } from '../projects/agents.js'
import type { Store } from '../store.js'
import { loadThread } from '../threads/threads.js'
import { findUnindexedThreads, readUnindexedWords, type UnindexedWords } from './unindexed-messages.js'
import { findPostedThreads, findWords, listsOfTerm, loadPostedThreads } from './word-search.js'

/**
 * Returns the embedder for queries. With a model name, the embedder of that model, or null if it is not available: during a
 * change of the model the vectors of the previous one are searched.
 */
export type QueryEmbedder = (model?: string) => Promise<TextEmbedder | null>

/** Input of every search. */
export interface SearchParts {
  readonly store: Store
  readonly projectId: string
  /** Settings of the file and the environment; those of agents override them. */
  readonly settings: PartialSettings
  /** Null: search by words only. */
  readonly embedder: QueryEmbedder | null
  readonly log?: { warn(fields: object, message: string): void } | undefined
  readonly clock: { nowMs(): number }
}

/** The scope of a search, and the conditions that every hit must meet. */
export interface SearchConditions {
  readonly agent?: string | undefined
  readonly thread?: string | undefined
  readonly kinds?: readonly SearchKind[] | undefined
  readonly path?: string | undefined
  /** Only messages of people with a lasting instruction. */
  readonly instructions?: boolean | undefined
}

/** Conditions of the rankings by words and by vectors. */
export interface SearchGround {
  /** Null for all agents. */
  readonly agentId: string | null
  readonly settings: Settings['search']
  readonly query: Omit<WordQuery, 'limit'>
  /** The share of the query's words that no message of the scope holds, from 0 to 1. */
  readonly unknownShare: number
  /** The threads that contain a term of the query, by their numbers. */
  readonly threadIds: ReadonlyMap<number, string>
  /** The thread to which the search is restricted, if it is a fork: it finds messages of other threads as its own. */
  readonly forkId: string | null
  /** False if the scope has more postings, or more messages without any, than one search reads. */
  readonly isComplete: boolean
  /** The postings of messages that are in no segment yet. */
  readonly unindexed: ReadonlyMap<string, Uint8Array>
}

/**
 * Finds the scope and reads its postings for the ranking by words.
 *
 * @param withUnindexed whether the newest messages count that the embed stage has not reached
 * @throws PermanentError `NOT_FOUND` for an agent or a thread that does not exist
 */
export async function readGround(
  { store, projectId, settings }: Pick<SearchParts, 'store' | 'projectId' | 'settings'>,
  { conditions, query, withUnindexed }: { conditions: SearchConditions; query: SearchQuery; withUnindexed: boolean },
): Promise<SearchGround> {
  const kinds = conditions.kinds?.map(kindTerm)
  const paths = conditions.path === undefined ? [] : pathTerms(conditions.path)
  const instructions = conditions.instructions === true ? [INSTRUCTION_TERM] : []
  const terms = [...new Set([...postedTerms(query), ...(kinds ?? []), ...paths, ...instructions])]
  const ranked = [...query.terms, ...query.others]
  const { scope, found, threads, unindexed } = await store.inProject(
    projectId,
    async (tx) => {
      const scope = await findScope(tx, projectId, conditions)
      const { agentId, threadId, runs } = scope
      const threadIds = threadId === null ? null : [threadId, ...runs.map(({ originId }) => originId)]
      const [found, unindexed] = await Promise.all([
        findWords(tx, { agentId, terms }),
        withUnindexed ? findUnindexedThreads(tx, { agentId, threadIds }) : [],
      ])
      const numbers = threadsOf(ranked.flatMap((term) => found.lists.get(term) ?? []))
      return { scope, found, threads: await loadPostedThreads(tx, numbers), unindexed }
    },
    { snapshot: withUnindexed },
  )
  const latest = await readUnindexedWords({ store, projectId, settings }, unindexed)
  const listsOf = (term: string) => listsOfTerm(term, found, latest.lists)
  const search = mergeSettings(settings, ...scope.settings).search
  return {
    agentId: scope.agentId,
    settings: search,
    query: wordQuery(query, {
      listsOf,
      only: {
        ...documentsOf(scope, latest),
        conditions: [
          ...(kinds === undefined ? [] : [kinds.flatMap(listsOf)]),
          ...[...paths, ...instructions].map(listsOf),
        ],
      },
      scope: {
        documents: found.scope.documents + latest.documents,
        length: found.scope.length + latest.length,
      },
      threadLengths: new Map([
        ...threads.map(({ number, length }) => [number, length] as const),
        ...latest.threadLengths,
      ]),
      weights: search.words,
    }),
    unknownShare: unknownShare(query, listsOf),
    threadIds: new Map([...threads.map(({ number, threadId }) => [number, threadId] as const), ...latest.threadIds]),
    forkId: scope.runs.length > 0 ? scope.threadId : null,
    isComplete: found.isComplete && latest.isComplete,
    unindexed: latest.lists,
  }
}

async function findScope(tx: Tx, projectId: string, { agent, thread }: SearchConditions) {
  if (thread !== undefined) {
    const threadId = threadIdOf(projectId, thread)
    const found = await loadThread(tx, { threadId })
    if (found === null) throw notFound('thread', thread, 'see `heddle threads list`')
    const { agentId, agentName, agentSettings, settings } = found
    if (agent !== undefined && agent !== agentName) {
      throw notFound('thread', thread, `it belongs to agent "${agentName}"; omit the agent, or name that one`)
    }
    const runs = await loadSharedRuns(tx, threadId)
    const posted = await findPostedThreads(tx, [threadId, ...runs.map(({ originId }) => originId)])
    return { agentId, threadId, runs, posted, settings: [agentSettings, settings] }
  }
  const everywhere = { threadId: null, runs: [], posted: [] }
  if (agent === undefined) return { ...everywhere, agentId: null, settings: [] }
  const found = await loadAgent(tx, { name: agent })
  if (found === null) throw notFound('agent', agent, 'see `heddle agents list`')
  return { ...everywhere, agentId: found.agentId, settings: [found.settings] }
}

/** The documents of the thread to which a search is restricted, and those that it shares as a fork: these are in other threads. */
function documentsOf(
  { threadId, runs, posted }: Awaited<ReturnType<typeof findScope>>,
  unindexed: UnindexedWords,
): Pick<WordQuery['only'], 'thread' | 'shared'> {
  if (threadId === null) return { thread: null, shared: [] }
  const numbers = new Map([
    ...[...unindexed.threadIds].map(([number, id]) => [id, number] as const),
    ...posted.map(({ number, threadId }) => [threadId, number] as const),
  ])
  const shared = runs.flatMap(({ originId, afterSeq, toSeq }) => {
    const thread = numbers.get(originId)
    return thread === undefined ? [] : [{ thread, afterSeq, toSeq }]
  })
  // A thread without words has no number yet.
  return { thread: numbers.get(threadId) ?? -1, shared }
}
