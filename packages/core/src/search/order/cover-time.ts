import { lastingInstructions } from '../instructions/lasting-instructions.js'
import { queryTerms } from '../query.js'
import { isLater, type Statement } from '../updates/statement.js'
import { openingStatement } from './opening-statement.js'
import { scoreBy } from './score-openings.js'

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
    if (!isOfPerson || GOES_ON.test(text.slice(0, OPENING_CHARACTERS)) || isInstruction(text)) return []
    return [openingStatement(statement, index)]
  })
  const score = scoreBy(queryTerms(question), openers)
  const scored = openers
    .map((opener) => ({ ...opener, score: score(opener) }))
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

/** Characters of a message that says no more than how the speaker wants things. */
const INSTRUCTION_CHARACTERS_MAX = 200

/** A lasting instruction by itself is no event. */
function isInstruction(text: string): boolean {
  return text.length <= INSTRUCTION_CHARACTERS_MAX && lastingInstructions(text).length > 0
}
