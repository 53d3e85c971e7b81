// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is shown harmlessly.
const CONTROL_CHARACTERS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g

/**
 * A text from outside in a form that a terminal shows and does not obey: escape sequences of a stored message must not
 * move the cursor, set the title or recolour what follows. Line feeds and tabs stay.
 */
export function safeText(text: string): string {
  return text.replace(CONTROL_CHARACTERS, (character) => {
    if (character === '\r') return ''
    return `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`
  })
}

/** The first line of a text, shortened to `charactersMax` with an ellipsis, and harmless. */
export function oneLine(text: string, charactersMax: number): string {
  const flat = safeText(text).replace(/\s+/g, ' ').trim()
  if (flat.length <= charactersMax) return flat
  return `${flat.slice(0, charactersMax - 1).toWellFormed()}…`
}
