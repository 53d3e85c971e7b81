/** V8 copies shorter parts of a text; a longer part refers to the text that it was cut from, and keeps all of it alive. */
const COPIED_CHARACTERS_MAX = 12

/** The same short text, without the one that it may be cut from: for what is kept for longer than that. */
export function detached(text: string): string {
  if (text.length <= COPIED_CHARACTERS_MAX) return text
  const units = new Uint16Array(text.length)
  for (let index = 0; index < text.length; index++) units[index] = text.charCodeAt(index)
  return String.fromCharCode(...units)
}
