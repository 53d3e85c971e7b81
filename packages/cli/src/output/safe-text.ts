/**
 * Control characters, what turns the direction of text around, what ends lines, and what is not seen at all; the joiners
 * that emoji and some scripts are written with stay.
 */
const UNSAFE = /[\p{Cc}\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu

/**
 * A text from outside in a form that a terminal shows and does not obey: escape sequences of a stored message must not
 * move the cursor, set the title or recolour what follows, and no mark may show it in another order than it has. Line feeds
 * and tabs stay.
 */
export function safeText(text: string): string {
  return text.replace(UNSAFE, (character) => {
    if (character === '\n' || character === '\t') return character
    if (character === '\r') return ''
    const code = (character.codePointAt(0) ?? 0).toString(16)
    return code.length <= 2 ? `\\x${code.padStart(2, '0')}` : `\\u{${code}}`
  })
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: colours are all that a line of one's own may hold of these.
const COLOUR = /(\u001b\[[0-9;]{0,16}m)/

/** A line of Heddle's own, whose colours stay: the last wall before a terminal. */
export function safeLine(line: string): string {
  return line
    .split(COLOUR)
    .map((part, index) => (index % 2 === 1 ? part : safeText(part)))
    .join('')
}

/** The first line of a text, shortened to `charactersMax` with an ellipsis, and harmless. */
export function oneLine(text: string, charactersMax: number): string {
  const flat = safeText(text).replace(/\s+/g, ' ').trim()
  if (flat.length <= charactersMax) return flat
  return `${flat.slice(0, charactersMax - 1).toWellFormed()}…`
}
