/**
 * Bounded reads of large texts. A tool's result may be four million characters on one line, so nothing here reads more
 * of a text than requested.
 */

/** A text on one line: runs of white space and control characters become one space. At most `charactersMax` are read. */
export function oneLine(text: string, charactersMax = 2_000): string {
  return (
    sliceWhole(text, charactersMax)
      // A single space, the most frequent run, is skipped: replacing it by itself would take most of the time.
      // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters would break the line.
      .replace(/[\s\u0000-\u001f\u007f]{2,}|[^\S ]|[\u0000-\u001f\u007f]/g, ' ')
      .trim()
  )
}

/** At most `charactersMax` characters; an ellipsis marks a cut. */
export function truncate(text: string, charactersMax: number): string {
  return text.length <= charactersMax ? text : `${sliceWhole(text, charactersMax - 1).trimEnd()}…`
}

/** The first characters of a text, without half of a surrogate pair at the end. */
export function sliceWhole(text: string, charactersMax: number): string {
  if (text.length <= charactersMax) return text
  const last = text.charCodeAt(charactersMax - 1)
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? charactersMax - 1 : charactersMax)
}

const LINE_CHARACTERS_MAX = 400

/** The first lines of a text, each cut to 400 characters. */
export function firstLines(text: string, linesMax: number): string[] {
  const lines: string[] = []
  let from = 0
  while (lines.length < linesMax && from <= text.length) {
    const end = text.indexOf('\n', from)
    const to = end === -1 ? text.length : end
    lines.push(withoutReturn(text.slice(from, Math.min(to, from + LINE_CHARACTERS_MAX))))
    from = to + 1
  }
  return lines
}

/** The last lines of a text in their order, each cut to 400 characters. */
export function lastLines(text: string, linesMax: number): string[] {
  const lines: string[] = []
  let to = text.length
  while (lines.length < linesMax && to >= 0) {
    const from = to === 0 ? 0 : text.lastIndexOf('\n', to - 1) + 1
    lines.push(withoutReturn(text.slice(from, Math.min(to, from + LINE_CHARACTERS_MAX))))
    to = from - 1
  }
  return lines.reverse()
}

function withoutReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line
}

/** Counts lines; a final newline ends the last line and starts no other. */
export function countLines(text: string): number {
  if (text === '') return 0
  let count = text.endsWith('\n') ? 0 : 1
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count++
  return count
}

/** Whether a line has no letter and no digit: blank, a rule, a bracket. */
export function isOnlySigns(line: string): boolean {
  return !/[\p{L}\p{N}]/u.test(line)
}
