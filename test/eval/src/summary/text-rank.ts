import { countTokens } from '@heddle/core'

const DAMPING = 0.85
const ROUNDS = 30
/** Words in more sentences than this link everything to everything, and cost the square of it. */
const SENTENCES_A_WORD_MAX = 400
const WORDS_MIN = 4

interface Sentence {
  readonly text: string
  readonly words: ReadonlySet<string>
}

/**
 * The sentences that most others resemble, in their order, within a number of tokens (Mihalcea and Tarau 2004): sentences
 * are linked by the words that they share, over the logarithms of their lengths, and ranked by PageRank.
 */
export function textRank(texts: readonly string[], tokensMax: number): string {
  const sentences = texts.flatMap(sentencesOf)
  const ranks = rank(linksOf(sentences))
  const order = sentences.map((_, index) => index).sort((left, right) => (ranks[right] ?? 0) - (ranks[left] ?? 0))
  const chosen: number[] = []
  const said = new Set<string>()
  let left = tokensMax
  for (const index of order) {
    const { text } = sentences[index] as Sentence
    const cost = countTokens(text) + 1
    if (cost > left || said.has(text)) continue
    said.add(text)
    chosen.push(index)
    left -= cost
  }
  return chosen
    .sort((one, other) => one - other)
    .map((index) => sentences[index]?.text)
    .join('\n')
}

function sentencesOf(text: string): Sentence[] {
  return text
    .split(/\n+|(?<=[.!?])\s+/)
    .map((part) => ({ text: part.trim(), words: new Set(part.toLowerCase().match(/[\p{L}\p{N}_]{2,}/gu) ?? []) }))
    .filter(({ words }) => words.size >= WORDS_MIN)
}

function linksOf(sentences: readonly Sentence[]): Map<number, number>[] {
  const holders = new Map<string, number[]>()
  for (const [index, { words }] of sentences.entries()) {
    for (const word of words) holders.set(word, [...(holders.get(word) ?? []), index])
  }
  const links = sentences.map(() => new Map<number, number>())
  for (const indices of holders.values()) {
    if (indices.length > SENTENCES_A_WORD_MAX) continue
    for (const from of indices) {
      for (const to of indices) if (from !== to) links[from]?.set(to, (links[from]?.get(to) ?? 0) + 1)
    }
  }
  for (const [from, row] of links.entries()) {
    const size = (index: number) => Math.log(sentences[index]?.words.size ?? 1)
    for (const [to, shared] of row) row.set(to, shared / (size(from) + size(to)))
  }
  return links
}

function rank(links: readonly ReadonlyMap<number, number>[]): number[] {
  const sums = links.map((row) => [...row.values()].reduce((sum, weight) => sum + weight, 0))
  let ranks = links.map(() => 1)
  for (let round = 0; round < ROUNDS; round++) {
    ranks = links.map((row) => {
      let own = 0
      // Links are the same in both directions.
      for (const [from, weight] of row) own += ((ranks[from] ?? 0) * weight) / (sums[from] || 1)
      return 1 - DAMPING + DAMPING * own
    })
  }
  return ranks
}
