/** Of a text, and of its lines with the rarest terms. */
const CHARACTERS_SORTED = 100_000
const CHARACTERS_READ = 4_000
const CHARACTERS_MIN = 2
const CHARACTERS_MAX = 80
const NAMED_MAX = 12

export interface Missing {
  /** At most twelve, in the order of the text. */
  readonly named: readonly string[]
  readonly count: number
}

/**
 * The figures, paths and names of code in a text, from its beginning, that a summary does not have. Plain words are not
 * compared, since a summary says the same in others.
 *
 * @param terms in lower case: pieces of the lines with the rarest of these come first
 */
export function missingFrom(text: string, summary: string, terms: readonly string[] = []): Missing {
  const whole = summary.toLowerCase()
  const pieces = linesByTerms(text.slice(0, CHARACTERS_SORTED), terms)
    .slice(0, CHARACTERS_READ)
    .split(/[\s"'`()[\]{}<>,;!?*|=]+/u)
    .map(withoutPunctuation)
    .filter(isDistinct)
  const missing = [...new Set(pieces)].filter((piece) => !whole.includes(piece.toLowerCase()))
  return { named: missing.slice(0, NAMED_MAX), count: missing.length }
}

/** The lines of a text, those with the rarest terms first. */
function linesByTerms(text: string, terms: readonly string[]): string {
  if (terms.length === 0) return text
  const lines = text.split('\n').map((line) => ({ line, lower: line.toLowerCase() }))
  const weights = terms.map((term) => {
    const count = lines.filter(({ lower }) => lower.includes(term)).length
    return { term, weight: count === 0 ? 0 : 1 / count }
  })
  const weightOf = (lower: string) =>
    weights.reduce((sum, { term, weight }) => sum + (lower.includes(term) ? weight : 0), 0)
  return lines
    .map(({ line, lower }) => ({ line, weight: weightOf(lower) }))
    .sort((one, other) => other.weight - one.weight)
    .map(({ line }) => line)
    .join('\n')
}

function withoutPunctuation(piece: string): string {
  const isEdge = (character: string | undefined) => character !== undefined && '.:-/\\…'.includes(character)
  let from = 0
  let to = piece.length
  while (from < to && isEdge(piece[from])) from++
  while (to > from && isEdge(piece[to - 1])) to--
  return piece.slice(from, to)
}

/** Whether it has a digit, a mark of paths and addresses, or a capital within. */
function isDistinct(piece: string): boolean {
  if (piece.length < CHARACTERS_MIN || piece.length > CHARACTERS_MAX) return false
  return /[\p{N}_./\\:@]/u.test(piece) || /\p{Ll}\p{Lu}/u.test(piece)
}
