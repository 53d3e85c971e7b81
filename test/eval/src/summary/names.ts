/** A word with an ending, like a file name; also `t.Run` and `2.3`, which only their spelling distinguishes. */
const FILE_NAME = /[\w.-]+\.\w{1,5}\b/g
const WORD = /[A-Za-z_]\w*/g

/** The names in a text: file names (the last segment of a path), and identifiers of two parts or more. */
export function namesOf(text: string): Set<string> {
  const names = new Set<string>()
  for (const [name] of text.matchAll(FILE_NAME)) names.add(name)
  for (const [word] of text.matchAll(WORD)) if (isIdentifier(word)) names.add(word)
  return names
}

/** Whether a word is camelCase, PascalCase or snake_case of at least two parts. */
function isIdentifier(word: string): boolean {
  return /[A-Za-z0-9]_+[A-Za-z0-9]/.test(word) || /[a-z0-9][A-Z]/.test(word) || /[A-Z]{2}[a-z]{2}/.test(word)
}

/** A line is a list of names if it has fewer words than this beside them, or more names than this for each word. */
const WORDS_MIN = 3
const NAMES_A_WORD_MAX = 3

/** Whether a line has hardly any words beside the names that it holds. */
export function isOnlyNames(line: string): boolean {
  const said = line.replace(/\[recall:[^\]]*\]/g, ' ')
  const names = namesOf(said).size
  if (names === 0) return false
  // The text without paths, file names and identifiers.
  const rest = said
    .replace(/[\w.-]*\/[\w./-]+/g, ' ')
    .replace(FILE_NAME, ' ')
    .replace(WORD, (word) => (isIdentifier(word) ? ' ' : word))
  const words = rest.match(/\p{L}{2,}/gu)?.length ?? 0
  return words < WORDS_MIN || names > NAMES_A_WORD_MAX * words
}
