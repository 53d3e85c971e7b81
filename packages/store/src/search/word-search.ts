import { postingFinder, type ScopeStatistics } from '@heddle/core'
import type { Tx } from '../connection/connection.js'
import type { Columns } from '../schema/rows.js'
import { asArray } from '../sql/arrays.js'
import { unpackAllPostings } from './postings.js'

/** Segments that one search reads, newest first: enough for gigabytes of text. */
export const SEGMENTS_READ_MAX = 2_000

export interface FoundWords {
  readonly scope: ScopeStatistics
  /** The postings of each term that occurs in the scope; no document is in two lists of one term. */
  readonly lists: ReadonlyMap<string, readonly Uint8Array[]>
  /** False if the scope has more segments than one search reads. */
  readonly isComplete: boolean
}

/**
 * The postings of some terms in the scope of an agent, or in all scopes of the project. Each lookup descends the index once
 * per segment and term, and reads the blocks that may contain it.
 */
export async function findWords(
  tx: Tx,
  { agentId, terms }: { agentId: string | null; terms: readonly string[] },
): Promise<FoundWords> {
  // The offset prevents a plan that reads the segments of all agents in the order of their numbers.
  const segments = await tx<Columns<'postingSegments', 'number' | 'documents' | 'length'>[]>`
    select number, documents, length
    from (
      select number, documents, length from heddle.posting_segments
      where project_id = (select nullif(current_setting('heddle.project_id', true), '')::uuid)
        and ${agentId === null ? tx`true` : tx`agent_id = ${agentId}`}
      offset 0) as segment
    order by number desc
    limit ${SEGMENTS_READ_MAX + 1}`
  const read = segments.slice(0, SEGMENTS_READ_MAX)
  const blocks = await loadBlocks(tx, { segments: read.map(({ number }) => number), terms })
  const lists = new Map<string, Uint8Array[]>()
  const find = postingFinder(terms)
  for (const block of blocks) {
    for (const [term, list] of find(block)) {
      const known = lists.get(term)
      if (known) known.push(list)
      else lists.set(term, [list])
    }
  }
  return {
    scope: {
      documents: read.reduce((sum, { documents }) => sum + documents, 0),
      length: read.reduce((sum, { length }) => sum + length, 0),
    },
    lists,
    isComplete: segments.length <= SEGMENTS_READ_MAX,
  }
}

async function loadBlocks(
  tx: Tx,
  { segments, terms }: { segments: readonly number[]; terms: readonly string[] },
): Promise<Uint8Array[]> {
  const blocks = await tx<{ postings: Uint8Array }[]>`
    select block.postings
    from (
      select distinct given.segment, place.first_term
      from unnest(${asArray(segments)}::bigint[]) as given (segment)
      cross join json_array_elements_text(${JSON.stringify(terms)}::text::json) as looked_for (term)
      cross join lateral (
        select first_term from heddle.posting_blocks
        where posting_blocks.segment = given.segment and first_term <= looked_for.term collate "C"
        order by first_term desc
        limit 1) as place
    ) as found
    cross join lateral (
      select postings from heddle.posting_blocks
      where posting_blocks.segment = found.segment and posting_blocks.first_term = found.first_term
      offset 0) as block`
  return await unpackAllPostings(blocks)
}

/** The postings of a term in segments, and in messages that are in no segment yet. */
export function listsOfTerm(
  term: string,
  { lists }: Pick<FoundWords, 'lists'>,
  unindexed: ReadonlyMap<string, Uint8Array>,
): readonly Uint8Array[] {
  const [known = [], added] = [lists.get(term), unindexed.get(term)]
  return added === undefined ? known : [...known, added]
}

/** A thread as postings name it. */
export type PostedThread = Columns<'postingThreads', 'number' | 'threadId' | 'length'>

/** Threads by their numbers, without those that were erased meanwhile. */
export async function loadPostedThreads(tx: Tx, numbers: Iterable<number>): Promise<PostedThread[]> {
  return await tx<PostedThread[]>`
    select found.number, found.thread_id, found.length
    from unnest(${asArray(numbers)}::bigint[]) as given (number)
    cross join lateral (
      select number, thread_id, length from heddle.posting_threads
      where posting_threads.number = given.number
      offset 0) as found`
}

/** Threads by their ids, without those that have no message with words. */
export async function findPostedThreads(tx: Tx, threadIds: readonly string[]): Promise<PostedThread[]> {
  return await tx<PostedThread[]>`
    select found.number, found.thread_id, found.length
    from unnest(${asArray(threadIds)}::uuid[]) as given (thread_id)
    cross join lateral (
      select number, thread_id, length from heddle.posting_threads
      where posting_threads.thread_id = given.thread_id
      offset 0) as found`
}
