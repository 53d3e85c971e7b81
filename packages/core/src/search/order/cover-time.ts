import { queryTerms } from '../query.js'
import { coverage } from '../rank.js'
import { termsOf } from '../terms/words.js'
import { isLater, proseOf, type Statement } from '../updates/statement.js'

/** Questions about a course of events, which many messages answer together. */
const ORDER =
  /\b(?:in (?:what|which|chronological|the right|this|that) order|in order|the order (?:in which|of|that)|chronolog(?:y|ical|ically)|sequence of|timeline of|one after (?:the other|another)|from (?:the )?(?:first|start|beginning) to (?:the )?(?:last|end))\b/i
/** "In order to" gives a reason. */
const REASON = /\bin order (?:to|that|for)\b/gi

export function asksForOrder(question: string): boolean {
  return ORDER.test(question.replace(REASON, ' '))
}

/** Begins a message that carries on with the previous one. */
const GOES_ON =
  /^\W{0,3}(?:yeah|yes|yep|no|nope|thanks|thank you|thx|got it|ok(?:ay)?|sure|hmm|hm|great|cool|that|right|alright|sounds|these|this|perfect|awesome|nice|i see|makes sense|what about|how about|wait|so|but|and|absolutely|continue|go on)\b/i

const OPENING_CHARACTERS = 40

/** Parts of the time from which the best statement comes first: about as many as people look at. */
const PARTS = 10
/** Statements that are spread over the parts. */
const SPREAD_MAX = 50
/** Letters that words of one family have in common, such as "combinations" and "combinatorial". */
const FAMILY_LETTERS = 6
const FAMILY_WEIGHT = 0.6

/**
 * Spreads the answers to a question of order over time: the statements that open a subject and are about the question are
 * divided by time into ten equal parts, and the best of each comes first.
 *
 * @param statements of a ranking, the best first
 * @returns the indexes of those to be placed first, the best first; empty for any other question
 */
export function coverTime(question: string, statements: readonly Statement[]): number[] {
  if (!asksForOrder(question)) return []
  const openers = statements.flatMap((statement, index) => {
    const { text, isOfPerson } = statement
    if (!isOfPerson || GOES_ON.test(text.slice(0, OPENING_CHARACTERS))) return []
    return [{ index, statement, terms: new Set(termsOf(proseOf(text))) }]
  })
  const score = scoreBy(
    queryTerms(question),
    openers.map(({ terms }) => terms),
  )
  const scored = openers
    .map((opener) => ({ ...opener, score: score(opener.terms) }))
    .filter((each) => each.score > 0)
    .sort((left, right) => right.score - left.score || left.index - right.index)
    .slice(0, SPREAD_MAX)
  const byTime = [...scored].sort((left, right) => (isLater(left.statement, right.statement) ? 1 : -1))
  const best = new Set<number>()
  for (let part = 0; part < PARTS; part++) {
    const [from, to] = [part, part + 1].map((end) => Math.floor((byTime.length * end) / PARTS))
    const ofPart = byTime.slice(from, to)
    if (ofPart.length > 0) best.add(ofPart.reduce((left, right) => (right.score > left.score ? right : left)).index)
  }
  return scored.flatMap(({ index }) => (best.has(index) ? [index] : []))
}

/** The score of a statement by its terms: the rarity of those of the question, or of their family. */
function scoreBy(
  terms: readonly string[],
  statements: readonly ReadonlySet<string>[],
): (held: ReadonlySet<string>) => number {
  const holders = new Map<string, number>()
  for (const held of statements) for (const term of held) holders.set(term, (holders.get(term) ?? 0) + 1)
  const weighed = terms.map((term) => ({
    term,
    rarity: Math.max(0, Math.log((statements.length + 1) / ((holders.get(term) ?? 0) + 0.5))),
    family: [...holders.keys()].filter((other) => isOfFamily(term, other)),
  }))
  const all = weighed.reduce((sum, { rarity }) => sum + rarity, 0)
  return (held) => {
    let [sum, share] = [0, 0]
    for (const { term, rarity, family } of weighed) {
      const weight = held.has(term) ? 1 : family.some((other) => held.has(other)) ? FAMILY_WEIGHT : 0
      sum += weight * rarity
      share += weight > 0 ? rarity : 0
    }
    return all === 0 ? 0 : sum * coverage(share / all)
  }
}

function isOfFamily(term: string, other: string): boolean {
  return term !== other && WORD.test(other) && term.slice(0, FAMILY_LETTERS) === other.slice(0, FAMILY_LETTERS)
}

const WORD = /^[a-z]{6,}$/
