import { sliceWhole } from '../tools/lines.js'

/** Characters of a `<progress>` that a cut output keeps. */
export const KEPT_PROGRESS_CHARACTERS_MAX = 1_000

const OPEN = /<progress>/gi
const CLOSE = '</progress>'

/**
 * The last `<progress>` of an output that ends beyond its first `shownCharacters`, for a text that shows only these: agents
 * state their progress at the end. Null if the shown beginning has it whole, or without a `<progress>`. Of a long one the beginning
 * is kept, and one that the agent did not close ends with the output.
 */
export function lateProgress(output: string, shownCharacters: number): string | null {
  const at = [...output.matchAll(OPEN)].at(-1)
  if (at === undefined) return null
  const start = at.index + at[0].length
  const close = output.toLowerCase().indexOf(CLOSE, start)
  const end = close < 0 ? output.length : close
  if (end + CLOSE.length <= shownCharacters || (close < 0 && end <= shownCharacters)) return null
  const inner = output.slice(start, end)
  const kept = sliceWhole(inner, KEPT_PROGRESS_CHARACTERS_MAX)
  const text = kept.length < inner.length ? `${kept}…` : kept
  return text.trim() === '' ? null : `<progress>${text.toWellFormed()}${CLOSE}`
}
