import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { client } from './client.js'

/** Events of a busy project arrive faster than a screen is read. */
const REFRESH_EVERY_MS = 1_000

/** Refreshes what the project's events concern, and returns whether the stream is open. */
export function useLiveEvents(): boolean {
  const queries = useQueryClient()
  const [isLive, setLive] = useState(false)
  useEffect(() => {
    const ending = new AbortController()
    const threads = new Set<string>()
    let timer: ReturnType<typeof setTimeout> | undefined
    const refresh = () => {
      timer = undefined
      refreshThreads(queries, [...threads])
      threads.clear()
    }
    async function follow() {
      const events = await client.events.follow({ signal: ending.signal })
      setLive(true)
      for await (const { thread } of events) {
        if (thread) threads.add(thread)
        timer ??= setTimeout(refresh, REFRESH_EVERY_MS)
      }
    }
    follow()
      .catch(() => undefined)
      .finally(() => setLive(false))
    return () => {
      clearTimeout(timer)
      ending.abort()
    }
  }, [queries])
  return isLive
}

const OF_THREAD = ['thread', 'messages', 'contexts', 'archive', 'summaries', 'plan']

function refreshThreads(queries: QueryClient, threads: readonly string[]): void {
  void queries.invalidateQueries({ queryKey: ['threads'] })
  for (const thread of threads) {
    for (const noun of OF_THREAD) void queries.invalidateQueries({ queryKey: [noun, thread] })
  }
}
