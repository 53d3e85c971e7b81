import type { Pausable } from '../recall/steps.js'
import { RequestLog, readRequest } from '../speech/request-log.js'
import { speechOf } from '../speech/sentences.js'
import type { SummaryRequest, SummarySource } from '../speech/source.js'
import { speakerText } from '../speech/speaker-text.js'
import { statementsOf } from '../speech/statements.js'
import { continuationIn } from '../speech/user-speech.js'
import { ActionLog } from './actions.js'
import { NameIndex } from './name-index.js'
import { namesIn } from './names.js'
import { PathView } from './path-view.js'
import { previousGoal, previousLines } from './previous.js'
import { Shortlist } from './shortlist.js'

/** The material that a summary is chosen from. */
export interface Gathered {
  /** The messages with their spoken text. */
  readonly messages: readonly SummarySource[]
  readonly shortlist: Shortlist
  readonly index: NameIndex
  readonly log: ActionLog
  readonly paths: PathView
}

/** Reads all messages once, in their order, and yields after each: thousands take hundreds of milliseconds. */
export function* gather({ messages: given, previousSummary }: SummaryRequest): Pausable<Gathered> {
  const messages = speakerText(given)
  const speeches: string[] = []
  for (const { text } of messages) {
    speeches.push(speechOf(text))
    yield
  }
  // The work of a step is not in this function: compiled code of a generator that was entered again is slower.
  const gathering = new Gathering(given, messages, speeches)
  gathering.carryOn(previousSummary ?? '')
  for (const place of messages.keys()) {
    gathering.add(place)
    yield
  }
  return gathering.gathered()
}

class Gathering {
  readonly #index = new NameIndex()
  readonly #log = new ActionLog(this.#index)
  readonly #shortlist = new Shortlist()
  readonly #requests = new RequestLog()
  readonly #firstRequest: number
  readonly #latestRequest: number
  readonly #latestReply: number
  readonly #isTalk: boolean

  /** @param speeches of the messages, by `speechOf` */
  constructor(
    private readonly given: readonly SummarySource[],
    private readonly messages: readonly SummarySource[],
    private readonly speeches: readonly string[],
  ) {
    const isSaid = (place: number) => speeches[place]?.trim() !== ''
    const isRequest = ({ role, pinned }: SummarySource, place: number) => role === 'user' && (pinned || isSaid(place))
    this.#firstRequest = messages.findIndex(isRequest)
    this.#latestRequest = messages.findLastIndex(isRequest)
    this.#latestReply = messages.findLastIndex(({ role }, place) => role === 'assistant' && isSaid(place))
    this.#isTalk = !messages.some(
      ({ role, toolName }) => role === 'tool_result' || role === 'tool_use' || toolName !== null,
    )
  }

  carryOn(summary: string): void {
    const goal = previousGoal(summary)
    if (goal) this.#requests.carryOn(goal)
    for (const candidate of previousLines(summary)) {
      this.#shortlist.add(candidate)
      this.#index.add(namesIn(candidate.text), 'said', Math.max(0, candidate.place))
    }
  }

  add(place: number): void {
    const source = this.messages[place]
    const given = this.given[place]
    if (source === undefined) return
    const speech = this.speeches[place] ?? ''
    const continuation = given?.role === 'user' && !source.pinned ? continuationIn(given.text) : null
    if (continuation !== null) this.carryOn(continuation)
    if (source.role === 'tool_result') {
      const refusal = this.#log.addResult(source, place, speech)
      if (refusal !== '') this.#requests.add(readRequest(refusal), refusal, place, source.reference)
    } else this.#index.add(namesIn(speech), source.role === 'user' ? 'asked' : 'said', place)
    const request = source.role === 'user' && !source.pinned ? readRequest(source.text) : null
    if (request) this.#requests.add(request, source.text, place, source.reference)
    if (source.role === 'assistant' || source.role === 'tool_use') this.#log.addCalls(source, place, speech)
    const standing = {
      place,
      request,
      recency: this.#recency(place),
      isFirstRequest: place === this.#firstRequest,
      isLatestRequest: place === this.#latestRequest,
      isLatestReply: place === this.#latestReply,
      isTalk: this.#isTalk,
    }
    for (const candidate of statementsOf(source, speech, standing)) this.#shortlist.add(candidate)
  }

  /** All of it, once every message was added. */
  gathered(): Gathered {
    const { messages } = this
    const [index, log, shortlist] = [this.#index, this.#log, this.#shortlist]
    const paths = new PathView(log.subjects.all().flatMap(({ kind, label }) => (kind === 'file' ? [label] : [])))
    const others = [
      ...this.#requests.candidates(),
      ...log.errors.candidates((place) => this.#recency(place), paths),
      ...log.plan,
      ...log.refusals,
    ]
    for (const candidate of others) shortlist.add(candidate)
    return { messages, shortlist, index, log, paths }
  }

  #recency(place: number): number {
    const { length } = this.messages
    return length <= 1 ? 1 : place / (length - 1)
  }
}
