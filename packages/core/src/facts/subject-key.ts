import { functionWords } from '../search/terms/function-words.js'
import { termsOf } from '../search/terms/words.js'

/** Words of a statement that say that a value changed, or how exact it is, and nothing of its subject. */
const BESIDE = new Set(
  `about achieve achieved actually added additional almost already approximately around aim aiming average-ish been being brought
  bumped changed completed currently cut decided decreased down dropped exactly expanded expect expecting extended finally from
  going gone got grew grown increased improved improving just keep kept latest least maximum-ish moved nearly need new newly now
  planning postponed push pushed raised reached recent recently reduce reduced reducing rescheduled roughly set setting so still
  than then today total try trying updated upgraded using want went working yet`.split(/\s+/),
)

/** The words of a phrase that name its subject. */
export function subjectWords(phrase: string): string[] {
  return (phrase.match(/[\p{L}\p{N}_][\p{L}\p{N}_'’./-]*/gu) ?? []).filter((word) => {
    const plain = word.toLowerCase().split(/['’]/, 1)[0] ?? ''
    return plain.length > 1 && !functionWords.has(plain) && !BESIDE.has(plain) && !/^\d/.test(plain)
  })
}

/** Equal for subjects of the same words, in whatever order and form; for those without words, of the same text. */
export function subjectKey(subject: string): string {
  const plain = subject.toLowerCase()
  // Names may differ by their signs alone, as C++ and C#.
  const signed = plain.split(/\s+/).filter((word) => word.includes('+') || word.includes('#'))
  const terms = [...termsOf(subject), ...signed]
  return terms.length === 0 ? plain.trim() : [...new Set(terms)].sort().join(' ')
}

/** The terms of an object or a statement that carry a meaning. */
export function contentTerms(text: string): Set<string> {
  return new Set(subjectWords(text).flatMap((word) => [...termsOf(word)]))
}
