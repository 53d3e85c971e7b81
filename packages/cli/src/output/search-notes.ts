import type { SearchResult } from '@heddle/client/interface'

/** What a search could not do, for people; nothing where it did all. */
export function searchNotes({ isComplete, degraded }: Pick<SearchResult, 'isComplete' | 'degraded'>): string[] {
  return [
    ...(degraded === null ? [] : ['', `by meaning: ${degraded}`]),
    ...(isComplete ? [] : ['', 'not all was looked at; a thread, an agent, a kind or a path narrows the search']),
  ]
}
