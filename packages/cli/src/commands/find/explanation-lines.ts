import type { SearchExplanation } from '@heddle/client/interface'
import { safeText } from '../../output/safe-text.js'

const RULES = {
  newer: 'moved up: it states the newest value',
  coverage: 'moved up: a question of order is answered over the whole time',
} as const

/** Why a hit has its place: a line each for words and vectors, and one for a rule that moved it. */
export function explanationLines({ words, vectors, score, reranked, rule }: SearchExplanation): string[] {
  return [
    `    score ${score.toFixed(2)}`,
    ...(words === null ? [] : [`    words: ${wordParts(words).join(' + ')}${factorsOf(words)}`]),
    ...(vectors === null ? [] : [`    vectors: ${vectorPart(vectors)}`]),
    ...(reranked === null ? [] : [`    reranked: ${reranked.score.toFixed(2)}, from place ${reranked.from}`]),
    ...(rule === null ? [] : [`    ${RULES[rule]}`]),
  ]
}

type Words = NonNullable<SearchExplanation['words']>

function wordParts({ passage, terms, share, passageScore, neighbours, thread, speaker }: Words): string[] {
  const named = terms.map(({ term, score }) => `${safeText(term)} ${score.toFixed(1)}`).join(', ')
  const ofPassage = `passage ${passage} ${passageScore.toFixed(2)} (${named}; ${Math.round(100 * share)}% of the query)`
  const others = { neighbours, thread, speaker }
  return [
    ...(passage === null ? [] : [ofPassage]),
    ...Object.entries(others).flatMap(([name, value]) => (value > 0 ? [`${name} ${value.toFixed(2)}`] : [])),
  ]
}

function factorsOf({ side, times }: Words): string {
  return `${side === 1 ? '' : `, x ${side} for a reply`}${times === 1 ? '' : `, x ${times} for a time`}`
}

function vectorPart({ cosine, score }: NonNullable<SearchExplanation['vectors']>): string {
  return `${score.toFixed(2)} (${cosine === null ? 'only beside near messages' : `cosine ${cosine.toFixed(2)}`})`
}
