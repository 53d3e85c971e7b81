import { type ArchiveHit, type Finding, limits, type StageSample } from '@heddle/contracts'
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { type Conditions, toArchive, toSearch } from '../search/conditions.js'
import { ask, client, loadSession } from './client.js'

/*
 * Everything that the screens read. The first parts of a key are the noun and the thread, by which events refresh what
 * they concern.
 */

const PAGE = 200
/** Messages are listed by their times: one that came late is beside the one with its number. */
const PAGE_OF_ONE = 20

export const sessionQuery = queryOptions({ queryKey: ['session'], queryFn: loadSession, retry: false })

export const threadsQuery = (search: string, agent: string) =>
  infiniteQueryOptions({
    queryKey: ['threads', search, agent],
    queryFn: ({ pageParam }) =>
      client.threads.list({
        limit: PAGE,
        cursor: pageParam,
        search: search || undefined,
        agent: agent || undefined,
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
  })

export const agentsQuery = queryOptions({ queryKey: ['agents'], queryFn: () => client.agents.list({ limit: PAGE }) })

export const threadQuery = (thread: string) =>
  queryOptions({ queryKey: ['thread', thread], queryFn: () => client.threads.get(thread) })

/** The newest messages, among which is the reply to a recent context. */
export const messagesOfReplyQuery = (thread: string) =>
  queryOptions({
    queryKey: ['messages', thread, 'newest'],
    queryFn: () => client.messages.list({ thread, order: 'desc', limit: PAGE }),
  })

/** One message by its number; null if the thread does not have it. */
export const messageQuery = (thread: string, seq: number) =>
  queryOptions({
    queryKey: ['messages', thread, 'one', seq],
    queryFn: async () => {
      const cursor = seq > 1 ? String(seq - 1) : undefined
      const { items } = await client.messages.list({ thread, order: 'asc', limit: PAGE_OF_ONE, cursor })
      return items.find((message) => message.seq === seq) ?? null
    },
  })

/** A context of the thread as it is now, of which nothing is stored. */
export const previewQuery = (thread: string) =>
  queryOptions({
    queryKey: ['messages', thread, 'preview'],
    queryFn: () => client.contexts.build({ thread, store: false }),
  })

/** @param context whose share of each tool is counted, too */
export const toolUseQuery = (thread: string, context: string | undefined) =>
  queryOptions({
    queryKey: ['tool-use', thread, context ?? null],
    queryFn: () => client.messages.toolUse(thread, { context }),
  })

export const largestQuery = (thread: string, tool: string | undefined) =>
  infiniteQueryOptions({
    queryKey: ['largest', thread, tool ?? null],
    queryFn: ({ pageParam }) => client.messages.largest({ thread, tool, limit: 50, cursor: pageParam }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
  })

export const contextsQuery = (thread: string) =>
  queryOptions({ queryKey: ['contexts', thread], queryFn: () => client.contexts.list({ thread, limit: 100 }) })

/** Requests to providers that the proxy relayed. */
export const proxiedRequestsQuery = (thread: string) =>
  infiniteQueryOptions({
    queryKey: ['proxied-requests', thread],
    queryFn: ({ pageParam }) => client.proxy.requests({ thread, limit: PAGE, cursor: pageParam }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
  })

export const proxyStatsQuery = queryOptions({ queryKey: ['proxy-stats'], queryFn: () => client.proxy.stats() })

export const proxiedRequestQuery = (id: string) =>
  infiniteQueryOptions({
    queryKey: ['proxied-request', id],
    queryFn: ({ pageParam }) => client.proxy.request({ id, limit: 50, cursor: pageParam }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
  })

export const summariesQuery = (thread: string) =>
  infiniteQueryOptions({
    queryKey: ['summaries', thread],
    queryFn: ({ pageParam }) => client.summaries.list({ thread, limit: PAGE, cursor: pageParam }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
  })

export const summaryMessagesQuery = (thread: string, summary: string) =>
  infiniteQueryOptions({
    queryKey: ['summary-messages', thread, summary],
    queryFn: ({ pageParam }) => client.summaries.messages({ thread, summary, limit: 100, cursor: pageParam }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
  })

export const lossQuery = (thread: string, compaction: string) =>
  queryOptions({
    queryKey: ['loss', thread, compaction],
    queryFn: () => client.summaries.loss({ thread, compaction }),
  })

export const planQuery = (thread: string) =>
  queryOptions({ queryKey: ['plan', thread], queryFn: () => client.contexts.planPruning({ thread }) })

export const searchQuery = (conditions: Conditions) =>
  queryOptions({ queryKey: ['search', conditions], queryFn: () => client.search(toSearch(conditions)) })

/** Messages of a thread with the words of a statement. */
export const statementsQuery = (thread: string, query: string) =>
  queryOptions({
    queryKey: ['statements', thread, query],
    queryFn: () => client.search({ query, thread, by: 'both', limit: 10 }),
  })

export const archiveSearchQuery = (conditions: Conditions) =>
  queryOptions({
    queryKey: ['archive-search', conditions],
    queryFn: () =>
      client.archive.search({
        ...toArchive(conditions),
        query: conditions.query ?? '',
        by: conditions.by ?? 'both',
      }),
  })

export const archiveListQuery = (conditions: Conditions) =>
  infiniteQueryOptions({
    queryKey: ['archive-list', conditions],
    queryFn: ({ pageParam }) => client.archive.list({ ...toArchive(conditions), cursor: pageParam }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
  })

/** A whole content. Reading it is an access, which the archive counts, so it is read once. */
export const contentQuery = (reference: string, thread: string | undefined) =>
  queryOptions({
    queryKey: ['content', thread ?? '', reference],
    queryFn: () => client.recall({ ref: reference, thread, offset: 0, limit: limits.recallCharactersMax }),
    staleTime: Number.POSITIVE_INFINITY,
  })

/** The archive's entry of a message; null if it is not archived. Its time finds it among many. */
export const accessesQuery = (thread: string, messageId: string, at: string | undefined) =>
  queryOptions({
    queryKey: ['archive', thread, messageId],
    queryFn: () => findEntry(thread, messageId, at),
    // Accesses are written a second after they were made, and no event reports them.
    refetchInterval: 3_000,
  })

async function findEntry(thread: string, messageId: string, at: string | undefined): Promise<ArchiveHit | null> {
  const until = at === undefined ? undefined : new Date(Date.parse(at) + 1).toISOString()
  let cursor: string | undefined
  do {
    const page = await client.archive.list({ thread, since: at, until, limit: 500, cursor })
    const entry = page.items.find((hit) => hit.messageId === messageId)
    if (entry !== undefined) return entry
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined)
  return null
}

/** Contexts never change. */
export const contextQuery = (id: string) =>
  queryOptions({
    queryKey: ['context', id],
    queryFn: () => client.contexts.get(id),
    staleTime: Number.POSITIVE_INFINITY,
  })

export const diffQuery = (before: string, after: string) =>
  queryOptions({
    queryKey: ['diff', before, after],
    queryFn: () => client.contexts.diff(before, after),
    staleTime: Number.POSITIVE_INFINITY,
  })

/** Details of an agent's items, which a request context shows beside its names. */
export const itemsQuery = (agent: string) =>
  queryOptions({ queryKey: ['items', agent], queryFn: () => loadItems(agent) })

async function loadItems(agent: string) {
  const items = []
  let cursor: string | undefined
  do {
    const page = await client.items.list(agent, { limit: PAGE, cursor })
    items.push(...page.items)
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined)
  return items
}

const STAGES_EVERY_MS = 2_000
const BEHIND_EVERY_MS = 5_000
const SAMPLES_EVERY_MS = 30_000

export const stagesQuery = queryOptions({
  queryKey: ['stages'],
  queryFn: () => client.stages.list(),
  refetchInterval: STAGES_EVERY_MS,
})

/** The messages of the project that each stage has not reached. */
export const stagesBehindQuery = queryOptions({
  queryKey: ['stages-behind'],
  queryFn: () => client.stages.behind(),
  refetchInterval: BEHIND_EVERY_MS,
})

export const stageSamplesQuery = queryOptions({
  queryKey: ['stage-samples'],
  queryFn: () => ask<{ items: StageSample[] }>('v1/stages/samples'),
  refetchInterval: SAMPLES_EVERY_MS,
})

export const findingsQuery = queryOptions({
  queryKey: ['findings'],
  queryFn: () => ask<{ items: Finding[] }>('v1/findings'),
})

export const deadLettersQuery = queryOptions({
  queryKey: ['dead-letters'],
  queryFn: () => client.deadLetters.list({ limit: 500 }),
  refetchInterval: SAMPLES_EVERY_MS,
})

export const deadLetterQuery = (id: string) =>
  queryOptions({ queryKey: ['dead-letter', id], queryFn: () => client.deadLetters.get(id) })
