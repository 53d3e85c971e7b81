/** V8 copies shorter substrings; a longer one references its source text and keeps all of it alive. */
const COPIED_CHARACTERS_MAX = 12

/** A copy of a short text that does not keep its source text alive, for values that are stored longer. */
export function detached(text: string): string {
  if (text.length <= COPIED_CHARACTERS_MAX) return text
  const units = new Uint16Array(text.length)
  for (let index = 0; index < text.length; index++) units[index] = text.charCodeAt(index)
  return String.fromCharCode(...units)
}
