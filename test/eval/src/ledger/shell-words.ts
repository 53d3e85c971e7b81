/*
 * Words of shell scripts: quotations, escapes, variables and substitutions.
 */

/** A word; `text` is null if a substitution decides it, and a glob expands over the files that exist. */
export interface Word {
  /** Literal parts, and names of variables after `$`. */
  readonly parts: readonly (string | { readonly variable: string })[]
  readonly isUnknown: boolean
  readonly isGlob: boolean
}

/** The text of a word that nothing expands; null otherwise. */
export function plainText({ parts, isUnknown, isGlob }: Word): string | null {
  return !isUnknown && !isGlob && parts.every((part) => typeof part === 'string') ? parts.join('') : null
}

export function wordAt(text: string, start: number): { readonly word: Word; readonly length: number } {
  const parts: (string | { variable: string })[] = []
  let [isUnknown, isGlob, at] = [false, false, start]
  const add = (part: string) => {
    const last = parts.at(-1)
    if (typeof last === 'string') parts[parts.length - 1] = last + part
    else parts.push(part)
  }
  const substitution = (): boolean => {
    const rest = text.slice(at)
    const name = /^\$(?:(\w+)|\{(\w+)\})/.exec(rest)
    if (name !== null) {
      parts.push({ variable: name[1] ?? name[2] ?? '' })
      at += name[0].length
      return true
    }
    const opening = /^(?:\$\(|`|\$\{|[<>]\()/.exec(rest)?.[0]
    if (opening === undefined) return false
    isUnknown = true
    at = endOfSubstitution(text, at + opening.length, opening)
    return true
  }
  for (; at < text.length; ) {
    const sign = text.charAt(at)
    if (sign === "'") {
      const end = text.indexOf("'", at + 1)
      if (end === -1) throw new Error('a quotation without its end')
      add(text.slice(at + 1, end))
      at = end + 1
    } else if (sign === '"') {
      at++
      add('')
      while (text.charAt(at) !== '"') {
        if (at >= text.length) throw new Error('a quotation without its end')
        if (text.charAt(at) === '\\' && /["\\$`\n]/.test(text.charAt(at + 1))) {
          add(text.charAt(at + 1) === '\n' ? '' : text.charAt(at + 1))
          at += 2
        } else if (!/[$`]/.test(text.charAt(at)) || !substitution()) {
          add(text.charAt(at))
          at++
        }
      }
      at++
    } else if (sign === '\\') {
      add(text.charAt(at + 1) === '\n' ? '' : text.charAt(at + 1))
      at += 2
    } else if (/[$`]/.test(sign) || /^[<>]\(/.test(text.slice(at, at + 2))) {
      if (!substitution()) {
        add(sign)
        at++
      }
    } else if (/[\s|&;<>()]/.test(sign)) break
    else {
      if (/^(?:[*?]|\[[^\s\]]+\])/.test(text.slice(at))) isGlob = true
      // Braces and tildes are left to the shell.
      if ((sign === '{' && /^\{[^}\s]*[,.]/.test(text.slice(at))) || (sign === '~' && at === start)) isUnknown = true
      add(sign)
      at++
    }
  }
  return { word: { parts, isUnknown, isGlob }, length: at - start }
}

function endOfSubstitution(text: string, start: number, opening: string): number {
  if (opening === '`') {
    const end = text.indexOf('`', start)
    if (end === -1) throw new Error('a substitution without its end')
    return end + 1
  }
  const [open, close] = opening === '${' ? ['{', '}'] : ['(', ')']
  // Here-documents and quotations in it may have brackets: those in quotations are skipped.
  let depth = 1
  for (let at = start; at < text.length; at++) {
    const sign = text.charAt(at)
    if (sign === '\\') at++
    else if (sign === "'" && opening !== '${') {
      const heredoc = /<<-?\s*$/.test(text.slice(Math.max(0, at - 6), at))
      const end = text.indexOf("'", at + 1)
      if (end === -1) continue
      if (heredoc) {
        const name = text.slice(at + 1, end)
        const last = text.indexOf(`\n${name}\n`, end)
        at = last === -1 ? end : last + name.length
      } else at = end
    } else if (sign === open) depth++
    else if (sign === close && --depth === 0) return at + 1
  }
  throw new Error('a substitution without its end')
}

export function literal(text: string): Word {
  return { parts: [text], isUnknown: false, isGlob: false }
}
