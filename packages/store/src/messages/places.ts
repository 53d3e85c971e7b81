import type { Position } from '@heddle/core'
import type { Tx } from '../connection/connection.js'
import { isStoredFor } from '../forks/lineage.js'
import { asArray } from '../sql/arrays.js'
import { byIndexOrder } from '../sql/index-order.js'
import { isOwn } from '../sql/own-project.js'
import { threadStands } from './tombstones.js'

/** A position among the messages of several threads: of equal positions, those of one id in two threads, the thread decides. */
export interface ThreadPosition extends Position {
  readonly threadId: string
}

/** A message of a page, and the size of its content. */
export interface MessagePlace extends ThreadPosition {
  readonly seq: number
  readonly bytes: number
}

interface Listing {
  /** The last message of the previous page. */
  readonly after: ThreadPosition | null
  /** At most so many places; one more than a page shows whether there is another page. */
  readonly limit: number
  readonly order: 'asc' | 'desc'
}

export interface AgentListing extends Listing {
  readonly agentId: string
  /** Messages from this time on. */
  readonly sinceMs: number | null
  /** Messages before this time. */
  readonly untilMs: number | null
}

/**
 * The places of the next messages of all threads of an agent, in the order of conversations. First the next message of each
 * thread is looked up; a page only holds messages of the threads in which these come first, up to the last of them.
 */
export async function findAgentPlaces(tx: Tx, listing: AgentListing): Promise<MessagePlace[]> {
  const { agentId, sinceMs, untilMs, limit, order, after } = listing
  const { direction, isPast, inOrder } = inDirection(tx, order)
  const isListed = tx`
    restores_seq is null
    and ${sinceMs === null ? tx`true` : tx`ordered_at >= ${sinceMs}`}
    and ${untilMs === null ? tx`true` : tx`ordered_at < ${untilMs}`}`
  const heads = tx<ThreadPosition[]>`
    select thread.id as thread_id, head.ordered_at as ordered_at_ms, head.ordinal, head.id
    from heddle.threads as thread
    cross join lateral (
      select ordered_at, ordinal, id from heddle.messages as message
      where thread_id = thread.id and ${isListed} and ${isPast(after, tx`thread.id`)}
      order by ordered_at ${direction}, ordinal ${direction}, id ${direction}
      limit 1
    ) as head
    where thread.agent_id = ${agentId} and ${threadStands(tx)}
    order by head.ordered_at ${direction}, head.ordinal ${direction}, head.id ${direction}, thread.id ${direction}
    limit ${limit}`
  const [, found] = await Promise.all([byIndexOrder(tx), heads])
  const last = found.length < limit ? undefined : found.at(-1)
  return await tx<MessagePlace[]>`
    select message.thread_id, seq, ordered_at as ordered_at_ms, ordinal, id, bytes
    from unnest(${asArray(found.map(({ threadId }) => threadId))}::uuid[]) as given (thread_id)
    cross join lateral (
      select thread_id, seq, ordered_at, ordinal, id, octet_length(content) as bytes
      from heddle.messages as message
      where thread_id = given.thread_id and ${isListed} and ${isPast(after, tx`given.thread_id`)}
        and ${last === undefined ? tx`true` : inOrder(last)}
      order by ordered_at ${direction}, ordinal ${direction}, id ${direction}
      limit ${limit}
    ) as message
    order by ordered_at ${direction}, ordinal ${direction}, id ${direction}, message.thread_id ${direction}
    limit ${limit}`
}

export interface SourceListing extends Listing {
  readonly sourceId: string
  readonly agentId: string | null
  readonly threadId: string | null
}

/** The places of the messages of the project with an id at their source. */
export async function findSourcePlaces(tx: Tx, listing: SourceListing): Promise<MessagePlace[]> {
  const { sourceId, agentId, threadId, limit, order, after } = listing
  const { direction, isPast } = inDirection(tx, order)
  return await tx<MessagePlace[]>`
    select message.thread_id, message.seq, ordered_at as ordered_at_ms, message.ordinal, message.id,
      octet_length(message.content) as bytes
    from heddle.messages as message
    join heddle.threads as thread on thread.id = message.thread_id
    where message.source_id = ${sourceId} and message.restores_seq is null and ${isOwn(tx, 'message')}
      and ${agentId === null ? tx`true` : tx`thread.agent_id = ${agentId}`}
      and ${threadId === null ? tx`true` : isStoredFor(tx, threadId)}
      and ${threadStands(tx)} and ${isPast(after, tx`message.thread_id`)}
    order by message.ordered_at ${direction}, message.ordinal ${direction}, message.id ${direction},
      message.thread_id ${direction}
    limit ${limit}`
}

function inDirection(tx: Tx, order: 'asc' | 'desc') {
  const [direction, past, upTo] = order === 'asc' ? [tx`asc`, tx`>`, tx`<=`] : ([tx`desc`, tx`<`, tx`>=`] as const)
  const position = tx`(message.ordered_at, message.ordinal, message.id)`
  const rowOf = ({ orderedAtMs, ordinal, id }: Position) => tx`(${orderedAtMs}, ${ordinal}, ${id})`
  return {
    direction,
    /** Whether a message of this thread comes after a position. In two conditions: the first is a range of the index. */
    isPast: (after: ThreadPosition | null, threadId: ReturnType<typeof tx>) =>
      after === null
        ? tx`true`
        : tx`${position} ${past}= ${rowOf(after)}
            and (${threadId} ${past} ${after.threadId} or ${position} <> ${rowOf(after)})`,
    inOrder: (last: Position) => tx`${position} ${upTo} ${rowOf(last)}`,
  }
}
