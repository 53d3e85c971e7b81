import type { ArchiveHit, ArchiveSearchResult, Page, SearchResult } from '@heddle/client/interface'
import { addressNote } from '@heddle/contracts'
import { oneLine, safeText } from '../../output/safe-text.js'
import { itemTable, type Line, moreLines } from '../../output/table.js'

const TEXT_CHARACTERS_MAX = 80

/** A thread whose newest messages all fit has failures, and nothing of it in the archive. */
const WHEN =
  'messages come into the archive with the first compaction; before it, heddle threads history shows all of them'

/** A page of archive entries, for people. */
export function archiveLines({ items, nextCursor }: Page<ArchiveHit>): Line[] {
  const none = nextCursor === null ? 'nothing in the archive meets these conditions' : 'nothing so far; older ones may'
  return [...(items.length === 0 ? [none, WHEN] : hitLines(items)), ...moreLines(nextCursor)]
}

/** What a search found, the best first. */
export function searchLines(found: ArchiveSearchResult): Line[] {
  const { items } = found
  return [
    ...(items.length === 0
      ? ['nothing in the archive was found by this; other words may find more', WHEN]
      : hitLines(items)),
    ...searchNotes(found),
  ]
}

function hitLines(items: readonly ArchiveHit[]): Line[] {
  const rows = itemTable(items, [
    { title: 'reference', text: ({ ref }) => ref.split('/').at(-1) ?? '' },
    { title: 'thread', text: ({ thread }) => thread },
    { title: 'when', text: ({ at }) => at.slice(0, 19).replace('T', ' ') },
    { title: 'tokens', count: ({ tokenCount }) => tokenCount },
    { title: 'what', text: ({ text }) => oneLine(text, TEXT_CHARACTERS_MAX) },
  ])
  return [...rows, `heddle recall ${safeText(items[0]?.ref ?? 'REFERENCE')} gives the text; ${addressNote}`]
}

/** What a search could not do, for people; nothing where it did all. */
export function searchNotes({ isComplete, degraded }: Pick<SearchResult, 'isComplete' | 'degraded'>): string[] {
  return [
    ...(degraded === null ? [] : ['', `by meaning: ${degraded}`]),
    ...(isComplete ? [] : ['', 'not all was looked at; a thread, an agent, a kind or a path narrows the search']),
  ]
}
