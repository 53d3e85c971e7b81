import type { Steps } from '../recall/steps.js'

/** What is searched for words: a few short texts that say what it is, and its content as far as it was read. */
export interface WordDocument {
  readonly label: string
  readonly content: string
}

/** BM25's usual constants: how soon a word's repetitions stop to count, and how much a long text is held against it. */
const SATURATION = 1.2
const LENGTH_WEIGHT = 0.75
/** A word in the line that says what an entry is tells more than one somewhere in its content. */
const LABEL_WEIGHT = 2

/**
 * Ranks documents by the words of a query, as BM25 does, over labels and contents apart. Rarity is that among the documents
 * given, so scores of two rankings cannot be compared.
 *
 * @returns a score for each document in their order; 0 where it holds none of the words
 */
export function* rankByWords(query: string, documents: readonly WordDocument[]): Steps<number[]> {
  const wanted = new Set(wordsOf(query))
  const labels = yield* scoreField(wanted, documents, ({ label }) => label)
  const contents = yield* scoreField(wanted, documents, ({ content }) => content)
  return documents.map((_, index) => LABEL_WEIGHT * (labels[index] ?? 0) + (contents[index] ?? 0))
}

interface Counted {
  readonly words: number
  readonly counts: ReadonlyMap<string, number>
}

function* scoreField(
  wanted: ReadonlySet<string>,
  documents: readonly WordDocument[],
  fieldOf: (document: WordDocument) => string,
): Steps<number[]> {
  const counted: Counted[] = []
  for (const document of documents) {
    counted.push(yield* count(fieldOf(document), wanted))
    yield
  }
  const filled = counted.filter(({ words }) => words > 0)
  const averageWords = filled.reduce((sum, { words }) => sum + words, 0) / Math.max(1, filled.length)
  const rarity = new Map<string, number>()
  for (const word of wanted) {
    const holders = filled.filter(({ counts }) => counts.has(word)).length
    rarity.set(word, Math.log(1 + (filled.length - holders + 0.5) / (holders + 0.5)))
  }
  return counted.map(({ words, counts }) => {
    const length = 1 - LENGTH_WEIGHT + LENGTH_WEIGHT * (words / Math.max(1, averageWords))
    let score = 0
    for (const [word, times] of counts) {
      score += ((rarity.get(word) ?? 0) * times * (SATURATION + 1)) / (times + SATURATION * length)
    }
    return score
  })
}

/** Characters whose words are counted between two pauses. */
const SLICE_CHARACTERS = 16 * 1024

function* count(text: string, wanted: ReadonlySet<string>): Steps<Counted> {
  const counts = new Map<string, number>()
  let words = 0
  for (let from = 0; from < text.length; from += SLICE_CHARACTERS) {
    for (const word of wordsOf(text.slice(from, from + SLICE_CHARACTERS))) {
      words++
      if (wanted.has(word)) counts.set(word, (counts.get(word) ?? 0) + 1)
    }
    yield
  }
  return { words, counts }
}

/** Words in small letters. Names in code are taken apart: `getUserById` and `get_user_by_id` have the same four. */
function wordsOf(text: string): string[] {
  const runs = text.match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
  return runs.flatMap((run) => {
    const parts = run.match(/\p{Lu}+(?=\p{Lu}\p{Ll})|\p{Lu}?\p{Ll}+|\p{Lu}+|\p{N}+|[^\p{Lu}\p{Ll}\p{N}]+/gu) ?? [run]
    return parts.map((part) => part.toLowerCase())
  })
}
