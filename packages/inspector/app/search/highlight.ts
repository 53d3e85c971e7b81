/** A piece of a text, and whether it is one of the terms. */
export interface Piece {
  readonly text: string
  readonly isTerm: boolean
}

/** A query of many words would make a slow expression. */
const TERMS_MAX = 20
const TERM_CHARACTERS_MAX = 60
/** Words that match almost every text. */
const COMMON = new Set('a an and are as at by for from in is it of on or that the to was were which with'.split(' '))

/** The words of a query, and the stems that a search used for them. */
export function termsOf(query: string, stems: readonly string[] = []): string[] {
  const words = query.match(/[\p{L}\p{N}_]+/gu) ?? []
  const rare = words.filter((word) => !COMMON.has(word.toLowerCase()))
  const terms = [...(rare.length === 0 ? words : rare), ...stems].filter(
    (term) => term.length > 1 && term.length <= TERM_CHARACTERS_MAX,
  )
  return [...new Set(terms.map((term) => term.toLowerCase()))].slice(0, TERMS_MAX)
}

/** Matches words that begin with a term, since terms may be stems; null without terms. */
export function matcherOf(terms: readonly string[]): RegExp | null {
  if (terms.length === 0) return null
  const alternatives = [...terms].sort((left, right) => right.length - left.length).map(escaped)
  return new RegExp(`(?<![\\p{L}\\p{N}])(?:${alternatives.join('|')})[\\p{L}\\p{N}]{0,40}`, 'giu')
}

export function highlight(text: string, matcher: RegExp | null): Piece[] {
  if (matcher === null) return [{ text, isTerm: false }]
  const pieces: Piece[] = []
  let end = 0
  for (const { 0: found, index } of text.matchAll(matcher)) {
    if (index > end) pieces.push({ text: text.slice(end, index), isTerm: false })
    pieces.push({ text: found, isTerm: true })
    end = index + found.length
  }
  if (end < text.length || pieces.length === 0) pieces.push({ text: text.slice(end), isTerm: false })
  return pieces
}

function escaped(term: string): string {
  return term.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&')
}
