/**
 * What providers demand of texts in general. Both refuse half a surrogate pair (a text that was cut inside an emoji makes
 * the whole request "not valid JSON"), and Anthropic refuses text blocks without a visible character.
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

/** Opens a conversation that would otherwise start with an assistant, or be empty. */
export const OPENING_TEXT = '[The conversation so far follows.]'

/** Stands for the text of a failed call that gave none: Anthropic refuses an empty error. */
export const NO_OUTPUT_TEXT = '[no output]'

const NOTE_OPEN = '<system-note>\n'
const NOTE_CLOSE = '\n</system-note>'

/** A system message where a format has no place for one but in a user's turn. */
export function markSystemNote(text: string): string {
  return `${NOTE_OPEN}${text}${NOTE_CLOSE}`
}

/** The text of a marked system message; null for any other text. */
export function unmarkSystemNote(text: string): string | null {
  const isNote =
    text.startsWith(NOTE_OPEN) && text.endsWith(NOTE_CLOSE) && text.length >= NOTE_OPEN.length + NOTE_CLOSE.length
  return isNote ? text.slice(NOTE_OPEN.length, text.length - NOTE_CLOSE.length) : null
}
