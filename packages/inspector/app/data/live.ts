import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { client } from './client.js'
import { signInAfter } from './sign-in.js'

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
    let isRefreshing = false
    let isDue = false
    const schedule = () => {
      if (isRefreshing) isDue = true
      else timer ??= setTimeout(refresh, REFRESH_EVERY_MS)
    }
    // The next one begins after the last one has its answers: reading a long thread takes longer than a second.
    async function refresh() {
      timer = undefined
      isRefreshing = true
      isDue = false
      const changed = [...threads]
      threads.clear()
      await refreshThreads(queries, changed).catch(() => undefined)
      isRefreshing = false
      if (isDue && !ending.signal.aborted) schedule()
    }
    async function follow() {
      const events = await client.events.follow({ signal: ending.signal })
      setLive(true)
      for await (const { thread } of events) {
        if (thread) threads.add(thread)
        schedule()
      }
    }
    follow()
      .catch((error) => signInAfter(queries, error))
      .finally(() => setLive(false))
    return () => {
      clearTimeout(timer)
      ending.abort()
    }
  }, [queries])
  return isLive
}

const OF_THREAD = ['thread', 'messages', 'contexts', 'archive', 'summaries', 'plan', 'tool-use', 'proxied-requests']

async function refreshThreads(queries: QueryClient, threads: readonly string[]): Promise<void> {
  const keys = threads.flatMap((thread) => OF_THREAD.map((noun) => [noun, thread]))
  await Promise.all([['threads'], ...keys].map((queryKey) => queries.invalidateQueries({ queryKey })))
}
