/**
 * General requirements on texts. Both providers refuse half a surrogate pair (a text cut inside an emoji makes the
 * whole request "not valid JSON"), and Anthropic refuses text blocks without a visible character.
 */
const BLANK = /^[\s\p{Cc}]*$/u
const BLANK_CHARACTER = /[\s\p{Cc}]/u

export function isBlank(text: string): boolean {
  return BLANK.test(text)
}

/** A loop, since a regular expression for trailing white space takes quadratic time on long runs of it. */
export function trimTrailing(text: string): string {
  let end = text.length
  while (end > 0 && BLANK_CHARACTER.test(text.charAt(end - 1))) end--
  return text.slice(0, end)
}

/** Starts a conversation that would otherwise start with an assistant message, or be empty. */
export const OPENING_TEXT = '[The conversation so far follows.]'

/** Replaces the text of a failed call without output: Anthropic refuses an empty error. */
export const NO_OUTPUT_TEXT = '[no output]'

const NOTE_OPEN = '<system-note>\n'
const NOTE_CLOSE = '\n</system-note>'

/** A system message for formats that allow one only in a user's turn. */
export function markSystemNote(text: string): string {
  return `${NOTE_OPEN}${text}${NOTE_CLOSE}`
}

/** The text of a marked system message; null for any other text. */
export function unmarkSystemNote(text: string): string | null {
  const isNote =
    text.startsWith(NOTE_OPEN) && text.endsWith(NOTE_CLOSE) && text.length >= NOTE_OPEN.length + NOTE_CLOSE.length
  return isNote ? text.slice(NOTE_OPEN.length, text.length - NOTE_CLOSE.length) : null
}
