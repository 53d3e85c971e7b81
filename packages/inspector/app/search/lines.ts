/** A row of a shown content: a line, or a part of a long one. */
export interface Row {
  /** Counted from 1. */
  readonly line: number
  /** Position of the text in its line; the number is shown where it is 0. */
  readonly from: number
  readonly text: string
}

/** A browser lays out lines of megabytes slowly. */
const ROW_CHARACTERS_MAX = 2_000
/** Lines that are shown at once: a browser limits the height of a page. */
export const PAGE_LINES = 100_000

/** The rows of one page of a content's lines, long lines in parts. */
export function rowsOf(lines: readonly string[], page: number): Row[] {
  const first = page * PAGE_LINES
  return lines.slice(first, first + PAGE_LINES).flatMap((text, index) => partsOf(text, first + index + 1))
}

function partsOf(text: string, line: number): Row[] {
  if (text.length <= ROW_CHARACTERS_MAX) return [{ line, from: 0, text }]
  const parts: Row[] = []
  for (let from = 0; from < text.length; ) {
    const end = from + ROW_CHARACTERS_MAX
    // A pair of surrogates is one character.
    const to = isHighSurrogate(text, end - 1) && end < text.length ? end - 1 : end
    parts.push({ line, from, text: text.slice(from, to) })
    from = to
  }
  return parts
}

function isHighSurrogate(text: string, index: number): boolean {
  const code = text.charCodeAt(index)
  return code >= 0xd800 && code <= 0xdbff
}
