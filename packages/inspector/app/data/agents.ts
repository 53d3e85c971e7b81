import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { client } from './client.js'

const PAGE = 200

export const agentPagesQuery = infiniteQueryOptions({
  queryKey: ['agent-pages'],
  queryFn: ({ pageParam }) => client.agents.list({ limit: PAGE, cursor: pageParam }),
  initialPageParam: undefined as string | undefined,
  getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
})

export const agentQuery = (name: string) =>
  queryOptions({ queryKey: ['agent', name], queryFn: () => client.agents.get(name) })

export const agentSettingsQuery = (name: string) =>
  queryOptions({ queryKey: ['agent-settings', name], queryFn: () => client.agents.settings(name) })

export const itemStatsQuery = (agent: string) =>
  queryOptions({ queryKey: ['item-stats', agent], queryFn: () => client.items.stats(agent) })

export const snapshotsQuery = (agent: string) =>
  queryOptions({ queryKey: ['snapshots', agent], queryFn: () => client.snapshots.history(agent, { limit: PAGE }) })

/** Saved windows never change. */
export const snapshotQuery = (id: string) =>
  queryOptions({
    queryKey: ['snapshot', id],
    queryFn: () => client.snapshots.get(id),
    staleTime: Number.POSITIVE_INFINITY,
  })
