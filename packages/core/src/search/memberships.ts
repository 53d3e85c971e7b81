import { readPostings } from './postings.js'
import { Scores } from './scores.js'
import type { RankedDocument, WordQuery } from './word-query.js'

/** The kind of each document, from lists of all documents of a kind; null for a document in no list. */
export function kindsOf<Kind>(
  documents: readonly Pick<RankedDocument, 'thread' | 'seq'>[],
  lists: ReadonlyMap<Kind, readonly Uint8Array[]>,
): (Kind | null)[] {
  const members = [...lists].map(([kind, of]) => ({ kind, of: memberships(of) }))
  return documents.map(({ thread, seq }) => members.find(({ of }) => of.get(thread)?.get(seq))?.kind ?? null)
}

/** The threads that occur in some lists. */
export function threadsOf(lists: readonly Uint8Array[]): Set<number> {
  const threads = new Set<number>()
  for (const list of lists) readPostings(list, (thread) => threads.add(thread))
  return threads
}

/** The documents of some lists, in the form of scores. */
export function memberships(lists: readonly Uint8Array[]): Scores {
  const members = new Scores()
  for (const list of lists) readPostings(list, (thread, seq) => members.of(thread).add(seq, 1))
  return members
}

/** Whether a document meets the conditions of a query. */
export function documentFilter(only: WordQuery['only']): (thread: number, seq: number) => boolean {
  const members = only.conditions.map(memberships)
  return (of, seq) => isInScope(only, of, seq) && members.every((each) => (each.get(of)?.get(seq) ?? 0) > 0)
}

function isInScope({ thread, shared = [] }: WordQuery['only'], of: number, seq: number): boolean {
  if (thread === null || thread === of) return true
  return shared.some((run) => run.thread === of && seq > run.afterSeq && seq <= run.toSeq)
}

/** The documents of a thread that the scope of a query has, as a range; null for none. */
export function rangeInScope({ thread, shared = [] }: WordQuery['only'], of: number): SeqRange | null {
  if (thread === null || thread === of) return { afterSeq: 0, toSeq: Number.POSITIVE_INFINITY }
  return shared.find((run) => run.thread === of) ?? null
}

interface SeqRange {
  readonly afterSeq: number
  readonly toSeq: number
}
