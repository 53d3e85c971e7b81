/**
 * Splits a command line into words like a shell, without the other features of a shell: no variables, no patterns, no command
 * substitution.
 *
 * @returns null if a quotation is not closed
 */
export function commandWords(text: string): string[] | null {
  const words: string[] = []
  const part = /\s+|'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)|([^\s'"\\]+)/gsy
  let word: string | null = null
  while (part.lastIndex < text.length) {
    const found = part.exec(text)
    if (found === null) return null
    const [whole, single, double, escaped, plain] = found
    const piece = single ?? double?.replace(/\\(["\\$`])/g, '$1') ?? escaped ?? plain
    if (piece !== undefined) word = `${word ?? ''}${piece}`
    else if (word !== null && whole !== '') {
      words.push(word)
      word = null
    }
  }
  if (word !== null) words.push(word)
  return words
}
