import { functionWords } from './function-words.js'
import { termsOf } from './words.js'

/** Words of a query that are joined or abbreviated. */
const WORDS_MAX = 32
/** Letters of the shortest abbreviation: of two, most are words. */
const INITIALS_LEAST = 3
const INITIALS_MAX = 5

/**
 * Terms for the same in other spellings: two adjacent words as one ("log in", "data base"), and the initials of three to
 * five words ("role-based access control" as RBAC). Only those count that texts of the scope have.
 */
export function otherSpellings(query: string): string[] {
  const words =
    query
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu)
      ?.slice(0, WORDS_MAX) ?? []
  const spellings: string[] = []
  for (const [index, word] of words.entries()) {
    const next = words[index + 1]
    if (next !== undefined && word.length + next.length > INITIALS_LEAST) spellings.push(word + next)
    for (let count = INITIALS_LEAST; count <= INITIALS_MAX; count++) {
      const named = words.slice(index, index + count)
      if (named.length < count || named.some((each) => functionWords.has(each))) break
      spellings.push(named.map(([initial]) => initial).join(''))
    }
  }
  return [...new Set(spellings.flatMap((spelling) => [...termsOf(spelling)]))]
}
