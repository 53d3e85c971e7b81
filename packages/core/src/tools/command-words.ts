/**
 * Reads a word from `start` on: its value, or null if only a shell can expand it; returns null for an unterminated one.
 */
export function readWord(line: string, start: number): { value: string | null; end: number } | null {
  const parts: string[] = []
  let isLiteral = true
  let at = start
  for (; at < line.length; at++) {
    const character = line.charAt(at)
    if (character === "'") {
      const end = line.indexOf("'", at + 1)
      if (end === -1) return null
      parts.push(line.slice(at + 1, end))
      at = end
    } else if (character === '"') {
      const quoted = readQuoted(line, at + 1)
      if (quoted === null) return null
      if (quoted.value === null) isLiteral = false
      else parts.push(quoted.value)
      at = quoted.end
    } else if (character === '\\') {
      if (line.charAt(at + 1) !== '\n') parts.push(line.charAt(at + 1))
      at++
      // Only these end a word in a shell: other white space, such as a no-break space, is a part of it.
    } else if (/[ \t\r\n|&;<>()]/.test(character)) break
    else if (character === '`') return null
    else if (character === '$') {
      isLiteral = false
      const end = endOfVariable(line, at)
      if (end === -1) return null
      at = end
    } else {
      if ('*?[]{}~'.includes(character) && !(character === '~' && at > start))
        isLiteral = isLiteral && !isGlob(line, at)
      parts.push(character)
    }
  }
  return { value: isLiteral ? parts.join('') : null, end: at }
}

/** `{}` is a placeholder of find, `~` a home directory that file tools expand too; `[` alone is a test. */
function isGlob(line: string, at: number): boolean {
  const character = line.charAt(at)
  if (character === '~') return false
  if (character === '[') return isClosed(line, at) && !/\s/.test(line.charAt(at + 1))
  if (character === ']') return false
  if (character === '{') return line.charAt(at + 1) !== '}'
  return character !== '}'
}

/** Characters searched for the end of a set: a line of only `[` would be read again from each. */
const SET_CHARACTERS_MAX = 1_000

/** Whether a set may be closed after `at`; beyond the search limit, only a shell can decide. */
function isClosed(line: string, at: number): boolean {
  const near = line.slice(at, at + SET_CHARACTERS_MAX)
  return near.includes(']') || at + near.length < line.length
}

/** The rest of a text in double quotes; its value is null if it contains a variable. */
function readQuoted(line: string, start: number): { value: string | null; end: number } | null {
  const parts: string[] = []
  let isLiteral = true
  for (let at = start; at < line.length; at++) {
    const character = line.charAt(at)
    if (character === '"') return { value: isLiteral ? parts.join('') : null, end: at }
    if (character === '`') return null
    if (character === '\\' && /["\\$`\n]/.test(line.charAt(at + 1))) {
      if (line.charAt(at + 1) !== '\n') parts.push(line.charAt(at + 1))
      at++
    } else if (character === '$' && /[\w({]/.test(line.charAt(at + 1))) {
      isLiteral = false
      const end = endOfVariable(line, at)
      if (end === -1) return null
      at = end
    } else parts.push(character)
  }
  return null
}

/**
 * The end of `$name`, `${name}` or `$(command)`; -1 if a substitution contains quotes, so that its end is uncertain.
 */
function endOfVariable(line: string, at: number): number {
  const next = line.charAt(at + 1)
  if (next === '(' || next === '{') {
    const end = line.indexOf(next === '(' ? ')' : '}', at)
    if (end === -1 || /["'`]|\$\(/.test(line.slice(at + 2, end))) return -1
    return end
  }
  const name = /^\w+/.exec(line.slice(at + 1, at + 81))?.[0] ?? ''
  return at + name.length
}
