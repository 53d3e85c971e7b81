import { lastingInstructions } from '../instructions/lasting-instructions.js'
import { queryTerms } from '../query.js'
import { termsOf } from '../terms/words.js'
import type { RankedStatement } from '../updates/statement.js'
import { openingStatement } from './opening-statement.js'
import { scoreBy } from './score-openings.js'
import { spread } from './spread.js'

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

/** The part of its score that a message keeps which carries on: it seldom brings something up. */
const GOES_ON_WEIGHT = 0.5
/** The same for how the speaker wants things: a lasting instruction by itself is no event. */
const INSTRUCTION_WEIGHT = 0.2
/** The same for a message of a person whom the question does not name, if it names another one. */
const OTHER_SPEAKER_WEIGHT = 0.3
/** The share of a statement's own words; the rest is its score in the ranking, with its neighbours, thread and vector. */
const OPENING_SHARE = 0.85

/**
 * Spreads the answers to a question of order over time: the statements of people that are about the question, those that
 * open a subject before others, each of less worth the nearer it is to better ones.
 *
 * @param statements of a ranking, the best first
 * @returns the indexes of those to be placed first, the best first; empty for any other question
 */
export function coverTime(question: string, statements: readonly RankedStatement[]): number[] {
  if (!asksForOrder(question)) return []
  const openers = statements.flatMap((statement, index) =>
    statement.isOfPerson ? [openingStatement(statement, index)] : [],
  )
  const { subjects, speakers } = partsOf(queryTerms(question), statements)
  const scoreOf = scoreBy(subjects, openers)
  const scored = openers.map((opener) => ({ opener, own: scoreOf(opener) })).filter(({ own }) => own > 0)
  const ownMost = Math.max(...scored.map(({ own }) => own))
  const rankedMost = Math.max(...scored.map(({ opener }) => statements[opener.index]?.score ?? 0), Number.MIN_VALUE)
  const worth = scored.map(({ opener: { index }, own }) => {
    const statement = statements[index] as RankedStatement
    const ranked = statement.score / rankedMost
    return {
      statement,
      index,
      worth: ((OPENING_SHARE * own) / ownMost + (1 - OPENING_SHARE) * ranked) * weightOf(statement, speakers),
    }
  })
  return spread(worth)
}

/** The terms of a question by which statements are found, and those that name the speakers of some. */
function partsOf(terms: readonly string[], statements: readonly RankedStatement[]) {
  const names = new Set(statements.flatMap(({ speaker }) => (speaker === null ? [] : [...termsOf(speaker)])))
  const subjects = terms.filter((term) => !names.has(term))
  return {
    subjects: subjects.length > 0 ? subjects : terms,
    speakers: new Set(terms.filter((term) => names.has(term))),
  }
}

function weightOf({ text, speaker }: RankedStatement, speakers: ReadonlySet<string>): number {
  // A name may be that of the addressee: what nobody is named for is not another's.
  const isOfOther = speakers.size > 0 && speaker !== null && ![...termsOf(speaker)].some((term) => speakers.has(term))
  return (
    (GOES_ON.test(text.slice(0, OPENING_CHARACTERS)) ? GOES_ON_WEIGHT : 1) *
    (isInstruction(text) ? INSTRUCTION_WEIGHT : 1) *
    (isOfOther ? OTHER_SPEAKER_WEIGHT : 1)
  )
}

/** Characters of a message that says no more than how the speaker wants things. */
const INSTRUCTION_CHARACTERS_MAX = 200

function isInstruction(text: string): boolean {
  return text.length <= INSTRUCTION_CHARACTERS_MAX && lastingInstructions(text).length > 0
}
