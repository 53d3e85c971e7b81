import { truncate } from '../tools/lines.js'
import { requestWords } from './request-words.js'
import { describeRequestedPlan, type RequestedPlan, requestedPlanIn } from './requested-plan.js'
import type { Candidate } from './sections.js'
import { sentencesOf } from './sentences.js'
import { type Substance, substanceOf } from './substance.js'

/** A user's message as a request. */
export interface ReadRequest {
  readonly plan: RequestedPlan | null
  /** Its text, on one line. */
  readonly words: string
  readonly substance: Substance
}

/** Reads a user's text as a request. */
export function readRequest(text: string): ReadRequest {
  const plan = requestedPlanIn(text)
  const words = plan ? describeRequestedPlan(plan) : requestWords(text)
  return { plan, words, substance: plan ? 'task' : substanceOf(words) }
}

/** A request as the goal of a summary shows it. */
interface Request {
  /** The full text, with the lines of its message; a goal shows its headline. */
  readonly text: string
  readonly words: string
  readonly place: number
  readonly reference: string
}

export interface EarlierGoal {
  readonly text: string
  /** The goal before it, and the first one; null if the summary has neither. */
  readonly before: string | null
  readonly first: string | null
  readonly reference: string
}

/** Maximum characters of one sentence of the goal, or of the request before it. */
const GOAL_CHARACTERS_MAX = 360
const BEFORE_CHARACTERS_MAX = 200
const THEN_CHARACTERS_MAX = 100
/** A goal shown in full needs no reference for recall. */
const WITHOUT_REFERENCE_CHARACTERS_MAX = 120

/** Prefixes of a goal's lines, by which a later summary recognizes them. */
export const BEFORE_MARK = 'Before it: '
export const FIRST_MARK = 'Began with: '
export const THEN_MARK = 'Then: '

const GOAL_SCORE = 40

/** The requests of a conversation in order. Its subject is the last one that is understood by itself. */
export class RequestLog {
  private goal: Request | null = null
  private before: Request | null = null
  private first: Request | null = null
  /** The latest short answer, order or question after the goal, or null. */
  private followUp: Request | null = null

  carryOn({ text, before, first, reference }: EarlierGoal): void {
    const told = (words: string | null) => (words === null ? null : { text: words, words, place: -1, reference: '' })
    this.before = told(before) ?? this.goal
    this.first ??= told(first) ?? this.before ?? { text, words: text, place: -1, reference }
    this.goal = { text, words: text, place: -1, reference }
    this.followUp = null
  }

  /** Whether only questions came so far. */
  private isOnlyAsked = false

  /** Adds a user's text. */
  add({ plan, words, substance }: ReadRequest, text: string, place: number, reference: string): void {
    if (substance === 'courtesy') return
    const request = { text: plan ? words : text, words, place, reference }
    // A question is the subject of the conversation until there is a task.
    const isGoal = substance === 'task' || (substance === 'question' && (this.goal === null || this.isOnlyAsked))
    if (!isGoal) {
      this.followUp = request
      return
    }
    this.isOnlyAsked = substance === 'question'
    this.followUp = null
    // Agents resend a message that a hook had stopped.
    if (this.goal?.words === words) return
    this.before = this.goal
    this.goal = request
    this.first ??= request
  }

  /** The goal, the one before it, and the text after it. */
  candidates(): Candidate[] {
    const { goal, before, followUp } = this
    const first = this.first?.words === goal?.words || this.first?.words === before?.words ? null : this.first
    const line = (
      { text, words, place, reference }: Request,
      mark: string,
      charactersMax: number,
      score: number,
    ): Candidate => {
      const told = `${mark}${truncate(headlineOf(words, text), charactersMax)}`
      const isWhole = told.length < WITHOUT_REFERENCE_CHARACTERS_MAX
      return { section: 'goal', text: told, score, place, reference: isWhole ? '' : reference }
    }
    return [
      ...(goal ? [line(goal, '', GOAL_CHARACTERS_MAX, GOAL_SCORE)] : []),
      ...(goal && before ? [line(before, BEFORE_MARK, BEFORE_CHARACTERS_MAX, GOAL_SCORE / 2)] : []),
      ...(goal && first ? [line(first, FIRST_MARK, BEFORE_CHARACTERS_MAX, GOAL_SCORE / 3)] : []),
      ...(goal && followUp ? [line(followUp, THEN_MARK, THEN_CHARACTERS_MAX, GOAL_SCORE / 4)] : []),
    ]
  }
}

/** Short texts unchanged; of long ones the beginning, and the actual request if it is further down. */
function headlineOf(words: string, text: string): string {
  if (words.length <= GOAL_CHARACTERS_MAX) return words
  const sentences = sentencesOf(text)
  const opening = truncate(sentences[0] ?? words, BEFORE_CHARACTERS_MAX)
  const asked = sentences.slice(1).find((sentence) => substanceOf(sentence) === 'task' && ASKS.test(sentence))
  return asked === undefined
    ? truncate(words, GOAL_CHARACTERS_MAX)
    : `${opening} … ${truncate(asked, GOAL_CHARACTERS_MAX - opening.length - 3)}`
}

const ASKS = /\?|\b(?:please|can you|could you|help me|i want|i need|i'?d like|let'?s|make sure|must)\b/i
