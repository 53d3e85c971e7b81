/** A result of a search, as rules on its text read it. */
export interface Statement {
  readonly text: string
  /** Whether a person said it: a model repeats what people said, old things as well. */
  readonly isOfPerson: boolean
  /** Milliseconds since 1970; of equal times, the higher `seq` is later. */
  readonly atMs: number
  readonly seq: number
}

/** A statement with its place in a ranking. */
export interface RankedStatement extends Statement {
  /** By all parts of the ranking, from 0. */
  readonly score: number
  /** The name of the speaker, if the metadata of the message have one. */
  readonly speaker: string | null
}

type At = Pick<Statement, 'atMs' | 'seq'>

export function isLater(left: At, right: At): boolean {
  return left.atMs > right.atMs || (left.atMs === right.atMs && left.seq > right.seq)
}

/** Characters of a text that are read. */
const TEXT_CHARACTERS_MAX = 8_000

/** The beginning of a text without blocks of code. */
export function proseOf(text: string): string {
  return text
    .slice(0, TEXT_CHARACTERS_MAX)
    .split('```')
    .filter((_, index) => index % 2 === 0)
    .map(withoutTildeBlocks)
    .join('\n')
}

/** Blocks between lines of tildes; one without an end reaches to the end of the text. */
function withoutTildeBlocks(text: string): string {
  if (!text.includes('~~~')) return text
  let isInside = false
  const kept = text.split('\n').filter((line) => {
    const isFence = /^ {0,3}~~~/.test(line)
    if (isFence) isInside = !isInside
    return !isFence && !isInside
  })
  return kept.join('\n')
}
