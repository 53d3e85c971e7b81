/** Extensions that make a word a file name even without a folder. */
const FILE_ENDING =
  /\.(?:[cm]?[jt]sx?|py|go|rs|rb|java|kts?|scala|cs|fs|c|cc|cpp|h|hpp|m|mm|swift|php|pl|lua|r|jl|ex|exs|erl|hs|clj|dart|zig|nix|sh|bash|zsh|fish|ps1|bat|sql|md|mdx|rst|txt|json[l5c]?|ya?ml|toml|ini|cfg|conf|env|lock|mod|sum|xml|html?|s?css|less|vue|svelte|proto|tf|gradle|csv|tsv|log|ipynb|patch|diff|snap|svg|png)$/
/** Kinds of characters of words with what may join their parts: `src/time-zone.ts`, `time.parseTime`. */
const OUTSIDE = 0
const INSIDE_ONLY = 1
const PLAIN = 2
/** After the first character, of a name and not of a plain word: a capital, an underscore or a dot. */
const SIGN = 3
/** By the code of a character. All codes have a kind, because a look-up beyond the end of an array is slow. */
const KINDS = new Uint8Array(2 ** 16)
for (let code = 0; code < 128; code++) {
  const character = String.fromCharCode(code)
  if (character === '-') KINDS[code] = INSIDE_ONLY
  else if (/[A-Z_.]/.test(character)) KINDS[code] = SIGN
  else if (/[a-z0-9@]/.test(character)) KINDS[code] = PLAIN
}
const WORD = /[A-Za-z_]\w+/g
const CHARACTERS_MIN = 4
const CHARACTERS_MAX = 60
/** An escaped line break in a nested text is not part of the word after it. */
const ESCAPE = /\\[nrt]/g
/** Characters read of one text; of longer ones, the beginning and the end. */
const READ_CHARACTERS_MAX = 16_000

/** The distinct names in a text, in order: names of files without their folders, and identifiers of two parts. */
export function namesIn(text: string): Set<string> {
  const names = new Set<string>()
  const half = READ_CHARACTERS_MAX / 2
  const bounded = text.length <= READ_CHARACTERS_MAX ? text : `${text.slice(0, half)}\n${text.slice(-half)}`
  const read = bounded.includes('\\') ? bounded.replace(ESCAPE, ' ') : bounded
  const { length } = read
  // A loop, since most words are plain: an expression would make a text of each.
  for (let at = 0; at < length; at++) {
    if ((KINDS[read.charCodeAt(at)] as number) < PLAIN) continue
    const start = at
    let isSigned = false
    for (at++; at < length; at++) {
      const kind = KINDS[read.charCodeAt(at)] as number
      if (kind === OUTSIDE) break
      if (kind === SIGN) isSigned = true
    }
    if (isSigned && at - start >= CHARACTERS_MIN) addNames(names, withoutSigns(read.slice(start, at)))
  }
  return names
}

function addNames(names: Set<string>, token: string): void {
  if (token.length > CHARACTERS_MAX || token.length < CHARACTERS_MIN || !/.[A-Z_.]/.test(token)) return
  if (token.includes('.') && isFileName(token)) names.add(token)
  else if (!token.includes('.') && !token.includes('-')) {
    if (isIdentifier(token)) names.add(token)
  } else for (const word of token.match(WORD) ?? []) if (isIdentifier(word)) names.add(word)
}

/**
 * Strips trailing punctuation. A loop, since a regular expression would rescan a run of punctuation from each of its
 * characters.
 */
function withoutSigns(run: string): string {
  let end = run.length
  while (end > 0 && '.@-'.includes(run.charAt(end - 1))) end--
  return run.slice(0, end)
}

export function isFileName(word: string): boolean {
  return word.lastIndexOf('.') > 0 && FILE_ENDING.test(word)
}

/** Whether a word is camelCase, PascalCase or snake_case with at least two parts, and not a random id. */
function isIdentifier(word: string): boolean {
  if (word.length < CHARACTERS_MIN || !/^[A-Za-z_]/.test(word)) return false
  if (!/[A-Za-z0-9]_+[A-Za-z0-9]|[a-z0-9][A-Z]|[A-Z]{2}[a-z]{2}/.test(word)) return false
  return !/\d[A-Za-z]+\d/.test(word)
}

/** The last segment of a path. */
export function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}
