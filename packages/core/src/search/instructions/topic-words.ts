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

/** The words of a sentence that say what it is about, without their endings. */
export function topicWords(sentence: string): ReadonlySet<string> {
  const words =
    sentence
      .toLowerCase()
      .replaceAll('’', "'")
      .match(/[\p{L}\p{N}_]+(?:['./-][\p{L}\p{N}_]+)*/gu) ?? []
  return new Set(words.filter((word) => !functionWords.has(word) && !MANNER.has(word)).map((word) => stem(word)))
}

export function isSubset(part: ReadonlySet<string>, whole: ReadonlySet<string>): boolean {
  if (part.size > whole.size) return false
  for (const word of part) if (!whole.has(word)) return false
  return true
}

export function isEqual(left: ReadonlySet<string>, right: ReadonlySet<string>): boolean {
  return left.size === right.size && isSubset(left, right)
}
