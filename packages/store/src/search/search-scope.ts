import { mergeSettings, notFound, type PartialSettings, type SearchKind, type Settings } from '@heddle/contracts'
import {
  INSTRUCTION_TERM,
  kindTerm,
  pathTerms,
  postedTerms,
  type SearchQuery,
  type SharedDocuments,
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
import { findPostedThread, findPostedThreads, findWords, loadPostedThreads } from './word-search.js'

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
  /** False if the scope has more postings than one search reads. */
  readonly isComplete: boolean
}

/**
 * Finds the scope and reads its postings for the ranking by words.
 *
 * @throws PermanentError `NOT_FOUND` for an agent or a thread that does not exist
 */
export async function readGround(
  tx: Tx,
  { projectId, settings }: Pick<SearchParts, 'projectId' | 'settings'>,
  { conditions, query }: { conditions: SearchConditions; query: SearchQuery },
): Promise<SearchGround> {
  const scope = await findScope(tx, projectId, conditions)
  const kinds = conditions.kinds?.map(kindTerm)
  const paths = conditions.path === undefined ? [] : pathTerms(conditions.path)
  const instructions = conditions.instructions === true ? [INSTRUCTION_TERM] : []
  const found = await findWords(tx, {
    agentId: scope.agentId,
    terms: [...new Set([...postedTerms(query), ...(kinds ?? []), ...paths, ...instructions])],
  })
  const listsOf = (term: string) => found.lists.get(term) ?? []
  const threads = await loadPostedThreads(tx, threadsOf([...query.terms, ...query.others].flatMap(listsOf)))
  const search = mergeSettings(settings, ...scope.settings).search
  return {
    agentId: scope.agentId,
    settings: search,
    query: wordQuery(query, {
      listsOf,
      only: {
        thread: scope.thread,
        shared: scope.shared,
        conditions: [
          ...(kinds === undefined ? [] : [kinds.flatMap(listsOf)]),
          ...[...paths, ...instructions].map(listsOf),
        ],
      },
      scope: found.scope,
      threadLengths: new Map(threads.map(({ number, length }) => [number, length])),
      weights: search.words,
    }),
    unknownShare: unknownShare(query, listsOf),
    threadIds: new Map(threads.map(({ number, threadId }) => [number, threadId])),
    forkId: scope.forkId,
    isComplete: found.isComplete,
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
    const shared = await sharedDocuments(tx, threadId)
    // A thread without words has no number yet.
    const number = (await findPostedThread(tx, threadId)) ?? -1
    return {
      agentId,
      thread: number,
      shared,
      forkId: shared.length > 0 ? threadId : null,
      settings: [agentSettings, settings],
    }
  }
  const everywhere = { thread: null, shared: [], forkId: null }
  if (agent === undefined) return { ...everywhere, agentId: null, settings: [] }
  const found = await loadAgent(tx, { name: agent })
  if (found === null) throw notFound('agent', agent, 'see `heddle agents list`')
  return { ...everywhere, agentId: found.agentId, settings: [found.settings] }
}

/** The indexed messages that a fork shares: they are indexed once, in the threads that have their rows. */
async function sharedDocuments(tx: Tx, threadId: string): Promise<readonly SharedDocuments[]> {
  const runs = await loadSharedRuns(tx, threadId)
  if (runs.length === 0) return []
  const threads = await findPostedThreads(
    tx,
    runs.map(({ originId }) => originId),
  )
  return runs.flatMap(({ originId, afterSeq, toSeq }) =>
    threads.flatMap((thread) => (thread.threadId === originId ? [{ thread: thread.number, afterSeq, toSeq }] : [])),
  )
}
