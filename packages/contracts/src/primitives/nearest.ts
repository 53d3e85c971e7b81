/** A longer word is hardly a mistyped name, and comparing it takes time. */
const CHARACTERS_MAX = 64

/**
 * Finds the known name that a mistyped word was most likely meant to be, ignoring case, dashes and underscores. Null if
 * no name is near enough.
 */
export function nearest(word: string, known: Iterable<string>): string | null {
  const given = plain(word)
  if (given === '' || given.length > CHARACTERS_MAX) return null
  let best: { readonly name: string; readonly distance: number } | null = null
  for (const name of known) {
    const other = plain(name)
    const distance = editDistance(given, other)
    const most = Math.max(1, Math.floor(Math.min(given.length, other.length) / 3))
    if (distance <= most && distance < other.length && (best === null || distance < best.distance)) {
      best = { name, distance }
    }
  }
  return best?.name ?? null
}

/** For the end of an error's text: empty if no name is near. */
export function didYouMean(word: string, known: Iterable<string>): string {
  const name = nearest(word, known)
  return name === null ? '' : `; did you mean ${name}?`
}

function plain(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}.]/gu, '')
}

/** Number of letters inserted, deleted, replaced, or swapped with their neighbor. */
function editDistance(one: string, other: string): number {
  let [before, last]: [number[], number[]] = [[], Array.from({ length: other.length + 1 }, (_, index) => index)]
  for (let row = 1; row <= one.length; row++) {
    const next = [row]
    for (let column = 1; column <= other.length; column++) {
      const replaced = at(last, column - 1) + (one[row - 1] === other[column - 1] ? 0 : 1)
      const isSwapped = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1]
      const swapped = isSwapped ? at(before, column - 2) + 1 : Number.POSITIVE_INFINITY
      next.push(Math.min(at(last, column) + 1, at(next, column - 1) + 1, replaced, swapped))
    }
    ;[before, last] = [last, next]
  }
  return at(last, other.length)
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY
}
