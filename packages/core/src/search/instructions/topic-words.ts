import { functionWords } from '../terms/function-words.js'
import { stem } from '../terms/stem.js'

/** Words that say how an instruction is meant, and not what it is about, in lower case. */
const MANNER: ReadonlySet<string> = new Set(
  `always never ever anymore longer again henceforth future forward going please may can must should allowed permission feel
  free fine alright ahead need needs have don't doesn't needn't you're it's i'd whenever time times directly instead simply
  rather kindly remember sure make want`
    .trim()
    .split(/\s+/),
)

/** Function words that make another thing of the same words: "from main", "to main". */
const DIRECTIONS: ReadonlySet<string> = new Set(['from', 'into', 'before', 'after', 'without'])

/** The words of a sentence that say what it is about, without their endings. */
export function topicWords(sentence: string): ReadonlySet<string> {
  const words =
    sentence
      .toLowerCase()
      .replaceAll('’', "'")
      .replace(/\bfrom (?:now|here) on\b/g, ' ')
      .match(/(?:(?<![^\s`"'(])\.)?[\p{L}\p{N}_]+(?:['./-][\p{L}\p{N}_]+)*(?:\+\+|#)?/gu) ?? []
  return new Set(words.filter(isTopic).map((word) => stem(word)))
}

function isTopic(word: string): boolean {
  return DIRECTIONS.has(word) || !(functionWords.has(word) || MANNER.has(word))
}

export function isSubset(part: ReadonlySet<string>, whole: ReadonlySet<string>): boolean {
  if (part.size > whole.size) return false
  for (const word of part) if (!whole.has(word)) return false
  return true
}

/** The same words in the same order: "merge main into dev" is not "merge dev into main". */
export function isEqual(left: ReadonlySet<string>, right: ReadonlySet<string>): boolean {
  const others = [...right]
  return left.size === right.size && [...left].every((word, index) => word === others[index])
}
