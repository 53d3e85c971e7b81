/**
 * Control characters, direction marks, line separators and invisible characters; the joiners of emoji and some scripts are not
 * included.
 */
const UNSAFE = /[\p{Cc}\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu

/**
 * Makes a text from outside safe for a terminal: escape sequences in a stored message must not move the cursor, set the title
 * or change colours, and no mark may change the order of its characters. Line feeds and tabs stay.
 */
export function safeText(text: string): string {
  return text.replace(UNSAFE, (character) => {
    if (character === '\n' || character === '\t') return character
    if (character === '\r') return ''
    const code = (character.codePointAt(0) ?? 0).toString(16)
    return code.length <= 2 ? `\\x${code.padStart(2, '0')}` : `\\u{${code}}`
  })
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: only colours of our own lines are kept.
const COLOUR = /(\u001b\[[0-9;]{0,16}m)/

/** Makes a line safe for a terminal but keeps its colours: the last check before output. */
export function safeLine(line: string): string {
  return line
    .split(COLOUR)
    .map((part, index) => (index % 2 === 1 ? part : safeText(part)))
    .join('')
}

/** A text on one line, shortened to `charactersMax` with an ellipsis, and safe for a terminal. */
export function oneLine(text: string, charactersMax: number): string {
  const flat = safeText(text).replace(/\s+/g, ' ').trim()
  if (flat.length <= charactersMax) return flat
  return `${flat.slice(0, charactersMax - 1).toWellFormed()}…`
}
