/**
 * The common form of queries that differ only in case, spaces and closing punctuation. Items are selected by it, so that like
 * queries share a selection.
 */
export function likeQuery(query: string): string {
  const spaced = query.normalize('NFKC').toLowerCase().replaceAll(/\s+/g, ' ').trim()
  let end = spaced.length
  while (end > 0 && CLOSING.has(spaced[end - 1] ?? '')) end--
  return end === 0 ? spaced : spaced.slice(0, end)
}

const CLOSING: ReadonlySet<string> = new Set('.!?… ')
