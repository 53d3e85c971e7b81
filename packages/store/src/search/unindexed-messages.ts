import type { PartialSettings, ToolCall } from '@heddle/contracts'
import { type PlacedDocument, type PostingLists, postingLists } from '@heddle/core'
import { runCooperatively } from '@heddle/runtime'
import type { Tx } from '../connection/connection.js'
import { listMessages } from '../messages/messages.js'
import { threadStands } from '../messages/tombstones.js'
import type { Columns } from '../schema/rows.js'
import { asArray } from '../sql/arrays.js'
import { isOwn } from '../sql/own-project.js'
import type { Store } from '../store.js'
import { loadCallsOf, wordsOf } from './document-words.js'

/**
 * Limits of one search, newest first, so that it stays fast while the embed stage has a backlog: of threads that the stage
 * has not finished, of those that are read, and of their messages.
 */
const THREADS_LISTED_MAX = 1_000
const THREADS_READ_MAX = 16
const MESSAGES_MAX = 100
/** Estimated tokens of the messages: twenty milliseconds of work. */
const TOKENS_MAX = 25_000

/** A thread whose newest messages are in no segment yet. */
export interface UnindexedThread
  extends Columns<'stageCursors', 'threadId' | 'headSeq'>,
    Columns<'postingThreads', 'length'> {
  /** Its number in postings; null before its first message with words. */
  readonly number: number | null
  /** The messages that are read are after this `seq`; it is the head if all are left out. */
  readonly afterSeq: number
  /** Whether messages of it are left out because of the limits. */
  readonly isCut: boolean
  readonly settings: PartialSettings
  readonly agentSettings: PartialSettings
}

/**
 * Threads with messages that are in no segment, the latest first. Reads in the snapshot of {@link findWords}, so that a
 * message is either found there or here.
 *
 * @param agentId null for all agents
 * @param threadIds null for all threads
 */
export async function findUnindexedThreads(
  tx: Tx,
  { agentId, threadIds }: { agentId: string | null; threadIds: readonly string[] | null },
): Promise<UnindexedThread[]> {
  return await tx<UnindexedThread[]>`
    with lagging as (
      select
        thread.id as thread_id, coalesce(described.settings, '{}'::json) as settings,
        configured.settings as agent_settings, posted.number, coalesce(posted.length, 0) as length,
        listed.last_message_at, listed.head_seq, greatest(listed.embed_seq, posted.to_seq) as indexed_seq
      from (
        select thread_id, head_seq, embed_seq, last_message_at from heddle.stage_cursors as cursor
        where cursor.embed_seq < cursor.head_seq and ${isOwn(tx, 'cursor')}
          and ${threadIds === null ? tx`true` : tx`cursor.thread_id = any(${asArray(threadIds)}::uuid[])`}
        order by cursor.last_message_at desc
        limit ${THREADS_LISTED_MAX}) as listed
      cross join lateral (
        select id, agent_id, project_id, version from heddle.threads where threads.id = listed.thread_id offset 0) as thread
      join heddle.agents as agent on agent.id = thread.agent_id
      join heddle.agent_versions as configured
        on configured.agent_id = agent.id and configured.version = agent.version
      left join heddle.thread_versions as described
        on described.thread_id = thread.id and described.version = thread.version
      left join lateral (
        select number, length, to_seq from heddle.posting_threads
        where posting_threads.thread_id = listed.thread_id offset 0) as posted on true
      where ${agentId === null ? tx`true` : tx`thread.agent_id = ${agentId}`} and ${threadStands(tx)}
        and greatest(listed.embed_seq, posted.to_seq) < listed.head_seq
      order by listed.last_message_at desc
      limit ${THREADS_READ_MAX}
    )
    select lagging.thread_id, settings, agent_settings, number, length, head_seq,
      coalesce(after_seq, head_seq) as after_seq, coalesce(after_seq, head_seq) > indexed_seq as is_cut
    from lagging
    left join (
      select thread_id, min(seq) - 1 as after_seq
      from (
        select lagging.thread_id, message.seq,
          sum(message.tokens_estimate) over newest as tokens, count(*) over newest as messages
        from lagging
        cross join lateral (
          select seq, tokens_estimate from heddle.messages
          where messages.thread_id = lagging.thread_id and messages.seq > lagging.indexed_seq
          order by seq desc
          limit ${MESSAGES_MAX}) as message
        window newest as (order by lagging.last_message_at desc, lagging.thread_id, message.seq desc)
      ) as counted
      where tokens <= ${TOKENS_MAX} and messages <= ${MESSAGES_MAX}
      group by thread_id
    ) as unindexed on unindexed.thread_id = lagging.thread_id`
}

/** Words of messages that are in no segment yet, for one search. */
export interface UnindexedWords extends Omit<PostingLists, 'threads'> {
  /** The threads by their numbers in the lists. */
  readonly threadIds: ReadonlyMap<number, string>
  /** Number of terms in each of them, with those in segments. */
  readonly threadLengths: ReadonlyMap<number, number>
  /** False if messages are left out because of the limits. */
  readonly isComplete: boolean
}

export const nothingUnindexed: UnindexedWords = {
  documents: 0,
  length: 0,
  lists: new Map(),
  threadIds: new Map(),
  threadLengths: new Map(),
  isComplete: true,
}

/** For threads without a number: greater than every number that the database generates. */
const NUMBERS_FROM = 2 ** 50

/** Reads the messages that {@link findUnindexedThreads} found, and extracts their words as the embed stage does. */
export async function readUnindexedWords(
  { store, projectId, settings }: { store: Store; projectId: string; settings: PartialSettings },
  threads: readonly UnindexedThread[],
): Promise<UnindexedWords> {
  if (threads.length === 0) return nothingUnindexed
  const loaded = await store.inProject(projectId, (tx) =>
    Promise.all(
      threads.map(async ({ threadId, afterSeq, headSeq }) => {
        if (afterSeq >= headSeq) return { messages: [], calls: new Map<string, ToolCall>() }
        const page = await listMessages(tx, { threadId, afterSeq, limit: headSeq - afterSeq })
        const messages = page.filter(({ seq, restores }) => seq <= headSeq && restores === undefined)
        return { messages, calls: await loadCallsOf(tx, threadId, messages) }
      }),
    ),
  )
  const documents: PlacedDocument[] = []
  const threadIds = new Map<number, string>()
  const threadLengths = new Map<number, number>()
  for (const [index, thread] of threads.entries()) {
    const { messages = [], calls = new Map<string, ToolCall>() } = loaded[index] ?? {}
    const number = thread.number ?? NUMBERS_FROM + index
    const words = await runCooperatively(wordsOf(messages, { calls, thread, settings }))
    documents.push(...words.map((each) => ({ ...each, thread: number })))
    threadIds.set(number, thread.threadId)
    threadLengths.set(
      number,
      words.reduce((sum, { length }) => sum + length, thread.length),
    )
  }
  const { threads: _, ...found } = postingLists(documents)
  const isComplete = threads.length < THREADS_READ_MAX && threads.every(({ isCut }) => !isCut)
  return { ...found, threadIds, threadLengths, isComplete }
}
