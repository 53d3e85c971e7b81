import type { ArchiveHit, ArchiveSearchResult, Page, SearchResult } from '@heddle/client/interface'
import { addressNote } from '@heddle/contracts'
import { oneLine, safeText } from '../../output/safe-text.js'
import { itemTable, type Line, moreLines } from '../../output/table.js'

const TEXT_CHARACTERS_MAX = 80

/** A thread that still fits its budget has an empty archive, even if commands failed in it. */
const WHEN = 'messages enter the archive at the first compaction; heddle threads history shows all of them'

/** A page of archive entries, for people. */
export function archiveLines({ items, nextCursor }: Page<ArchiveHit>): Line[] {
  const none =
    nextCursor === null ? 'no archive entry matches these conditions' : 'no match so far; older entries may match'
  return [...(items.length === 0 ? [none, WHEN] : hitLines(items)), ...moreLines(nextCursor)]
}

/** The hits of a search for people, best match first. */
export function searchLines(found: ArchiveSearchResult): Line[] {
  const { items } = found
  return [
    ...(items.length === 0 ? ['no archive entry was found; try other words', WHEN] : hitLines(items)),
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

/** The limitations of a search for people: no vectors, or not everything searched. */
export function searchNotes({ isComplete, degraded }: Pick<SearchResult, 'isComplete' | 'degraded'>): string[] {
  return [
    ...(degraded === null ? [] : ['', `no search by meaning: ${degraded}`]),
    ...(isComplete
      ? []
      : ['', 'not everything was searched; narrow the search to a thread, an agent, a kind or a path']),
  ]
}
