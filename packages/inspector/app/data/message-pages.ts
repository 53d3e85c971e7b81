import type { MessageEntry } from '@heddle/contracts'
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { client } from './client.js'

const PAGE = 200
/** Pages that are kept: scrolling through a thread of any length takes the memory of some. The others are loaded again. */
const PAGES_MAX = 8

export type Order = 'asc' | 'desc'

/** Consecutive messages, in the order of the list. */
export interface LoadedPage {
  readonly items: readonly MessageEntry[]
  /** The number after which the list continues, in its order; null at its end. */
  readonly next: number | null
  /** The number before which it begins; null at its beginning. */
  readonly previous: number | null
}

interface Place {
  readonly after?: number
  readonly before?: number
}

/**
 * The messages of a thread around a place of it, in both directions.
 *
 * @param at the number of a message, from which the list is shown; undefined for its beginning
 */
export const messagesQuery = (thread: string, order: Order, at: number | undefined) =>
  infiniteQueryOptions({
    queryKey: ['messages', thread, order, at ?? null],
    queryFn: ({ pageParam }) =>
      pageParam.before === undefined
        ? loadAfter(thread, order, pageParam.after)
        : loadBefore(thread, order, pageParam.before),
    initialPageParam: placeOf(order, at),
    getNextPageParam: ({ next }): Place | undefined => (next === null ? undefined : { after: next }),
    getPreviousPageParam: ({ previous }): Place | undefined => (previous === null ? undefined : { before: previous }),
    maxPages: PAGES_MAX,
  })

function placeOf(order: Order, at: number | undefined): Place {
  if (at === undefined) return {}
  if (order === 'desc') return { after: at + 1 }
  return at <= 1 ? {} : { after: at - 1 }
}

async function loadAfter(thread: string, order: Order, after: number | undefined): Promise<LoadedPage> {
  const cursor = after === undefined ? undefined : String(after)
  const { items, nextCursor } = await client.messages.list({ thread, order, limit: PAGE, cursor }).catch((error) => {
    // No message has the number after the newest one.
    if (after === undefined || order === 'asc' || error?.field !== 'cursor') throw error
    return client.messages.list({ thread, order, limit: PAGE })
  })
  return {
    items,
    next: nextCursor === null ? null : Number(nextCursor),
    previous: after === undefined ? null : (items[0]?.seq ?? null),
  }
}

async function loadBefore(thread: string, order: Order, before: number): Promise<LoadedPage> {
  const opposite = order === 'asc' ? 'desc' : 'asc'
  const { items, nextCursor } = await client.messages.list({
    thread,
    order: opposite,
    limit: PAGE,
    cursor: String(before),
  })
  return {
    items: items.toReversed(),
    next: items[0]?.seq ?? null,
    previous: nextCursor === null ? null : Number(nextCursor),
  }
}

/** The archived contents of a page of messages, by their times. */
export function archiveOfQuery(thread: string, { items }: LoadedPage) {
  const times = items.map(({ orderedAt }) => Date.parse(orderedAt))
  const since = new Date(Math.min(...times)).toISOString()
  const until = new Date(Math.max(...times) + 1).toISOString()
  return queryOptions({
    queryKey: ['archive', thread, since, until],
    queryFn: () => client.archive.list({ thread, since, until, limit: 500 }),
    enabled: items.length > 0,
  })
}
