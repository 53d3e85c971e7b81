import { truncate } from '../tools/lines.js'
import { type Cues, cuesOf } from './cues.js'
import type { ReadRequest } from './request-log.js'
import { withoutCopied } from './request-words.js'
import type { RequestedPlan } from './requested-plan.js'
import type { Candidate, SectionName } from './sections.js'
import { sentencesIn, sentencesOf } from './sentences.js'
import type { SummarySource } from './source.js'

/** Context of a message among those to be summarized. */
export interface Standing {
  readonly place: number
  /** The request in a user's message; null for others, and for pinned ones. */
  readonly request: ReadRequest | null
  /** 0 for the oldest message, 1 for the newest. */
  readonly recency: number
  readonly isFirstRequest: boolean
  readonly isLatestRequest: boolean
  readonly isLatestReply: boolean
  /**
   * Whether the conversation has no tool calls: in a talk, what people say of themselves matters more than their
   * requests.
   */
  readonly isTalk: boolean
}

/** A request this short is kept verbatim. */
const WHOLE_REQUEST_CHARACTERS_MAX = 320
/** A shorter follow-up means nothing without the message it answers. */
const FOLLOW_UP_CHARACTERS_MIN = 30
/** Candidate lines of one long message; more would copy it. */
const LINES_A_REQUEST_MAX = 6
const LINES_A_PLAN_MAX = 3
/** A statement with fewer words beside its names is not informative. */
const WORDS_MIN = 3
const WITHOUT_REFERENCE_CHARACTERS_MAX = 120
const PINNED_CHARACTERS_MAX = 600

/**
 * The candidate lines of a user's or an assistant's message.
 *
 * @param speech of its text, by `speechOf`
 */
export function statementsOf(source: SummarySource, speech: string, standing: Standing): Candidate[] {
  const { reference, pinned, role } = source
  const line = (section: SectionName, text: string, score: number): Candidate => ({
    section,
    text,
    score,
    place: standing.place,
    reference,
  })
  if (pinned) return [line('requests', truncate(sentencesIn(speech).join(' ') || 'pinned', PINNED_CHARACTERS_MAX), 100)]
  if (standing.request !== null) return requestsOf(source, standing.request, standing, line)
  if (role !== 'assistant' && role !== 'tool_use') return []
  const sentences = sentencesIn(speech)
  if (standing.isTalk && !standing.isLatestReply) return talkOf(sentences, standing, line, false)
  return sentences.flatMap((sentence, index) => {
    const cues = cuesOf(sentence)
    if (cues.filler && standing.isLatestReply && sentence.length > 30) return [line('next', sentence, 8)]
    if (cues.filler || cues.nod) return []
    const closing = standing.isLatestReply && index >= sentences.length - 6 ? 4 : 0
    return replyStatement(sentence, cues, standing, closing).map(([section, score]) => line(section, sentence, score))
  })
}

type Line = (section: SectionName, text: string, score: number) => Candidate

function requestsOf(source: SummarySource, request: ReadRequest, standing: Standing, line: Line): Candidate[] {
  const { plan, words: whole, substance } = request
  if (plan) return planOf(plan, source.text, standing, line)
  const sentences = () => sentencesOf(withoutCopied(source.text))
  if (standing.isTalk && !standing.isLatestRequest) return talkOf(sentences(), standing, line, true)
  const edge = standing.isFirstRequest ? 8 : standing.isLatestRequest ? 9 : 0
  if (substance === 'courtesy') return []
  if (whole.length <= WHOLE_REQUEST_CHARACTERS_MAX) {
    const cues = cuesOf(whole)
    const isFollowUp = substance === 'follow-up'
    if (isFollowUp && edge < 9 && (cues.nod || (whole.length < FOLLOW_UP_CHARACTERS_MIN && cues.details === 0)))
      return []
    const asks = !isFollowUp || cues.asking || cues.requirement || cues.question || edge > 0
    const score = 4 + edge + weigh(cues) + (cues.requirement ? 3 : 0) + 2 * standing.recency + (isFollowUp ? -3 : 2)
    // A short message shown in full needs no reference for recall.
    const reference = whole.length < WITHOUT_REFERENCE_CHARACTERS_MAX ? '' : source.reference
    return [{ ...line(asks ? 'requests' : 'facts', whole, asks ? score : score - 2), reference }]
  }
  const told = sentences().flatMap((sentence, index) => {
    const cues = cuesOf(sentence)
    // Headings and single words of a long text mean nothing without the text below them.
    if (plainWordsIn(sentence) < 2) return []
    if (cues.details === 0 && (sentence.length < 30 || !(cues.requirement || cues.asking || index < 3))) return []
    // The beginning of a long message states its subject.
    const opening = edge * (index < 6 ? 1 - index * 0.12 : 0.25)
    const asks = cues.asking || cues.requirement || index === 0
    const score = 2 + opening + weigh(cues) + (cues.requirement ? 3 : 0) + (cues.asking ? 1 : 0) + 2 * standing.recency
    return line(asks ? 'requests' : 'facts', sentence, score)
  })
  return told.sort((left, right) => right.score - left.score).slice(0, LINES_A_REQUEST_MAX)
}

/** A plan is one request; its contents are decisions, of which a few are listed. */
function planOf(plan: RequestedPlan, text: string, standing: Standing, line: Line): Candidate[] {
  const laidDown = sentencesOf(text).filter((sentence) => {
    const { requirement, decision, details } = cuesOf(sentence)
    return (requirement || decision) && details > 0 && plainWordsIn(sentence) >= WORDS_MIN
  })
  return [
    ...(plan.parts.length < 2 ? [] : [line('requests', `Parts of the plan: ${plan.parts.join('; ')}`, 6)]),
    ...laidDown
      .slice(0, LINES_A_PLAN_MAX)
      .map((sentence) => line('decisions', `The plan: ${sentence}`, 4 + 2 * standing.recency)),
  ]
}

/** Statements of people in a conversation without tools, sentence by sentence. */
function talkOf(sentences: readonly string[], standing: Standing, line: Line, isUsers: boolean): Candidate[] {
  return sentences.flatMap((sentence) => {
    const cues = cuesOf(sentence)
    if (cues.nod || sentence.length < (cues.details > 0 ? 20 : 50)) return []
    const score = 2 + Math.min(sentence.length, 160) / 80 + 2 * weigh(cues) + standing.recency
    if (cues.question) return isUsers && cues.details > 0 ? [line('requests', sentence, score - 1)] : []
    // An instruction of an assistant to its user is advice.
    return [line(isUsers && cues.asking && cues.requirement ? 'requests' : 'facts', sentence, score)]
  })
}

/** The section of an assistant's sentence and its weight there; empty if it is not informative. */
function replyStatement(sentence: string, cues: Cues, standing: Standing, closing: number): [SectionName, number][] {
  const weight = weigh(cues)
  const { recency } = standing
  if (cues.question) return recency > 0.8 || closing > 0 ? [['questions', 2 + weight + 6 * recency + closing]] : []
  // A lead-in to a list, a bare name, or a few words mean nothing without their surroundings.
  if (sentence.length < 20 || sentence.endsWith(':') || plainWordsIn(sentence) < WORDS_MIN) return []
  if (cues.problem && (cues.resolution || /root cause|the (?:problem|issue|bug|cause) (?:is|was)/i.test(sentence))) {
    return [['errors', 4 + weight + 2 * recency]]
  }
  if (cues.open && recency > 0.6) return [['next', 1 + weight + 5 * recency + closing]]
  if (cues.state && (recency > 0.7 || closing > 0)) return [['state', 2 + weight + 6 * recency + closing]]
  if (closing > 0) return [['state', weight + 4 * recency + closing]]
  if (cues.decision) return [['decisions', 3 + weight + 2 * recency + (cues.requirement ? 1 : 0)]]
  return cues.details >= 2 ? [['facts', 1 + weight + 2 * recency]] : []
}

/** Words that are neither code nor paths. */
function plainWordsIn(sentence: string): number {
  const plain = sentence.replace(/`[^`]{0,200}`|\S*[/_.(=]\S+|\S*[a-z][A-Z]\S*/g, ' ')
  return plain.match(/\p{L}{2,}/gu)?.length ?? 0
}

function weigh(cues: Cues): number {
  return Math.min(cues.details, 6) * 0.6
}
