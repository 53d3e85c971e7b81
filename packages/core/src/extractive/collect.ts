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

/** Reads all messages once, in their order. */
export function gather({ messages: given, previousSummary }: SummaryRequest): Gathered {
  const messages = speakerText(given)
  const index = new NameIndex()
  const log = new ActionLog(index)
  const shortlist = new Shortlist()
  const requests = new RequestLog()
  const recency = (place: number) => (messages.length <= 1 ? 1 : place / (messages.length - 1))
  const carryOn = (summary: string) => {
    const goal = previousGoal(summary)
    if (goal) requests.carryOn(goal)
    for (const candidate of previousLines(summary)) {
      shortlist.add(candidate)
      index.add(namesIn(candidate.text), 'said', Math.max(0, candidate.place))
    }
  }
  carryOn(previousSummary ?? '')
  const speeches = messages.map(({ text }) => speechOf(text))
  const isSaid = (place: number) => speeches[place]?.trim() !== ''
  const isRequest = ({ role, pinned }: SummarySource, place: number) => role === 'user' && (pinned || isSaid(place))
  const firstRequest = messages.findIndex(isRequest)
  const latestRequest = messages.findLastIndex(isRequest)
  const latestReply = messages.findLastIndex(({ role }, place) => role === 'assistant' && isSaid(place))
  const isTalk = !messages.some(
    ({ role, toolName }) => role === 'tool_result' || role === 'tool_use' || toolName !== null,
  )
  for (const [place, source] of messages.entries()) {
    const speech = speeches[place] ?? ''
    const continuation = given[place]?.role === 'user' && !source.pinned ? continuationIn(given[place].text) : null
    if (continuation !== null) carryOn(continuation)
    if (source.role === 'tool_result') {
      const refusal = log.addResult(source, place, speech)
      if (refusal !== '') requests.add(readRequest(refusal), refusal, place, source.reference)
    } else index.add(namesIn(speech), source.role === 'user' ? 'asked' : 'said', place)
    const request = source.role === 'user' && !source.pinned ? readRequest(source.text) : null
    if (request) requests.add(request, source.text, place, source.reference)
    if (source.role === 'assistant' || source.role === 'tool_use') log.addCalls(source, place, speech)
    const standing = {
      place,
      request,
      recency: recency(place),
      isFirstRequest: place === firstRequest,
      isLatestRequest: place === latestRequest,
      isLatestReply: place === latestReply,
      isTalk,
    }
    for (const candidate of statementsOf(source, speech, standing)) shortlist.add(candidate)
  }
  const paths = new PathView(log.subjects.all().flatMap(({ kind, label }) => (kind === 'file' ? [label] : [])))
  for (const candidate of [
    ...requests.candidates(),
    ...log.errors.candidates(recency, paths),
    ...log.plan,
    ...log.refusals,
  ]) {
    shortlist.add(candidate)
  }
  return { messages, shortlist, index, log, paths }
}
