import { truncate } from '../tools/lines.js'
import { type Cues, cuesOf } from './cues.js'
import type { Candidate, SectionName } from './sections.js'
import { sentencesOf, speechOf } from './sentences.js'
import type { SummarySource } from './source.js'

/** Where a message stands among those to be summarized. */
export interface Standing {
  readonly place: number
  /** 0 for the oldest message, 1 for the newest. */
  readonly recency: number
  readonly isFirstRequest: boolean
  readonly isLatestRequest: boolean
  readonly isLatestReply: boolean
  /** Whether nobody calls tools here: people talk, and what they say of themselves matters more than what they ask. */
  readonly isTalk: boolean
}

/** A request this short is kept as it was written. */
const WHOLE_REQUEST_CHARACTERS_MAX = 320
/** A statement with fewer words beside its names says too little. */
const WORDS_MIN = 3
const WITHOUT_REFERENCE_CHARACTERS_MAX = 120
const PINNED_CHARACTERS_MAX = 600

/** The lines that a user's or an assistant's message offers to a summary. */
export function statementsOf(source: SummarySource, standing: Standing): Candidate[] {
  const { reference, pinned, role } = source
  const line = (section: SectionName, text: string, score: number): Candidate => ({
    section,
    text,
    score,
    place: standing.place,
    reference,
  })
  if (pinned)
    return [line('requests', truncate(sentencesOf(source.text).join(' ') || 'pinned', PINNED_CHARACTERS_MAX), 100)]
  const sentences = sentencesOf(source.text)
  if (role === 'user') return requestsOf(source, sentences, standing, line)
  if (role !== 'assistant' && role !== 'tool_use') return []
  if (standing.isTalk && !standing.isLatestReply) return talkOf(sentences, standing, line)
  return sentences.flatMap((sentence, index) => {
    const cues = cuesOf(sentence)
    if (cues.filler && standing.isLatestReply && sentence.length > 30) return [line('next', sentence, 8)]
    if (cues.filler || cues.nod) return []
    const closing = standing.isLatestReply && index >= sentences.length - 6 ? 4 : 0
    return replyStatement(sentence, cues, standing, closing).map(([section, score]) => line(section, sentence, score))
  })
}

type Line = (section: SectionName, text: string, score: number) => Candidate

function requestsOf(source: SummarySource, sentences: readonly string[], standing: Standing, line: Line): Candidate[] {
  if (standing.isTalk && !standing.isLatestRequest) return talkOf(sentences, standing, line)
  const edge = standing.isFirstRequest ? 8 : standing.isLatestRequest ? 9 : 0
  const whole = sentences.join(' ')
  if (sentences.length === 0) {
    const words = speechOf(source.text).replace(/\s+/g, ' ').trim()
    return edge > 0 && words !== '' ? [line('requests', truncate(words, WHOLE_REQUEST_CHARACTERS_MAX), edge)] : []
  }
  if (whole.length <= WHOLE_REQUEST_CHARACTERS_MAX) {
    const cues = cuesOf(whole)
    if (cues.nod && edge < 9) return []
    const asks = cues.asking || cues.requirement || cues.question || edge > 0
    const bare = whole.length < 30 && cues.details === 0 ? 3 : 0
    const score = 4 + edge + weigh(cues) + (cues.requirement ? 3 : 0) + 2 * standing.recency - bare
    const section = standing.isFirstRequest ? 'goal' : asks ? 'requests' : 'facts'
    // A short message that is told as a whole has nothing more to recall.
    const reference = whole.length < WITHOUT_REFERENCE_CHARACTERS_MAX ? '' : source.reference
    return [{ ...line(section, whole, asks ? score : score - 2), reference }]
  }
  return sentences.flatMap((sentence, index) => {
    const cues = cuesOf(sentence)
    // Headings and bare words of a long text say nothing without what stands below them.
    if (plainWordsIn(sentence) < 2) return []
    if (cues.details === 0 && (sentence.length < 30 || !(cues.requirement || cues.asking || index < 3))) return []
    // Instructions of a harness may surround the request, but what it begins with says what it is about.
    const opening = edge * (index < 6 ? 1 - index * 0.12 : 0.25)
    const asks = cues.asking || cues.requirement || index === 0
    const score = 2 + opening + weigh(cues) + (cues.requirement ? 3 : 0) + (cues.asking ? 1 : 0) + 2 * standing.recency
    const opens = standing.isFirstRequest && index < 3
    return line(opens ? 'goal' : asks ? 'requests' : 'facts', sentence, score)
  })
}

/** What people tell in a conversation without tools, sentence by sentence. */
function talkOf(sentences: readonly string[], standing: Standing, line: Line): Candidate[] {
  return sentences.flatMap((sentence) => {
    const cues = cuesOf(sentence)
    if (cues.nod || sentence.length < (cues.details > 0 ? 20 : 50)) return []
    const score = 2 + Math.min(sentence.length, 160) / 80 + 2 * weigh(cues) + standing.recency
    if (cues.question) return cues.details > 0 ? [line('requests', sentence, score - 1)] : []
    return [line(cues.asking && cues.requirement ? 'requests' : 'facts', sentence, score)]
  })
}

/** The section of an assistant's sentence and its weight there; none for what says too little. */
function replyStatement(sentence: string, cues: Cues, standing: Standing, closing: number): [SectionName, number][] {
  const weight = weigh(cues)
  const { recency } = standing
  if (cues.question) return recency > 0.8 || closing > 0 ? [['questions', 2 + weight + 6 * recency + closing]] : []
  // A lead-in to a list, a bare name, a few words: nothing without what stands around them.
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

/** Words that are no code and no path. */
function plainWordsIn(sentence: string): number {
  const plain = sentence.replace(/`[^`]{0,200}`|\S*[/_.(=]\S+|\S*[a-z][A-Z]\S*/g, ' ')
  return plain.match(/\p{L}{2,}/gu)?.length ?? 0
}

function weigh(cues: Cues): number {
  return Math.min(cues.details, 6) * 0.6
}
