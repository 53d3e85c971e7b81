import type { Pausable } from '../recall/steps.js'
import { type Candidate, sections } from '../speech/sections.js'
import { proseSentences } from '../speech/sentences.js'
import { snapshotSentences } from '../speech/snapshot-sentences.js'
import type { SummaryRequest } from '../speech/source.js'
import { countTokens } from '../tokens/tokens.js'
import { truncate } from '../tools/lines.js'
import { gather } from './collect.js'
import { anyWords, chooseLines } from './extractive.js'

/** A sentence is cut to this length if the tokens do not suffice for two whole ones. */
const CHARACTERS_MIN = 24

/**
 * The summary of a snapshot without a model: two to four sentences, one a line, the weightiest ones that were said, in the order of a
 * longer summary. A window in which too little was said is described instead, by the number of its messages.
 *
 * @param request of at least 60 tokens; the result has at most as many
 */
export function* summarizeSnapshot(request: SummaryRequest): Pausable<string> {
  const { tokensMax } = request
  const gathered = yield* gather(request)
  const lines = yield* chooseLines(gathered, request, { withHeadings: false, withReferences: false })
  const said = lines.flatMap((line) => oneSentence(line.text).map((text) => ({ ...line, text })))
  for (let length = Math.min(said.length, snapshotSentences.max); length >= snapshotSentences.min; length--) {
    const chosen = said.slice(0, length).sort(bySection)
    const summary = chosen.map(({ text }) => text).join('\n')
    if (countTokens(summary) <= tokensMax) return summary
  }
  const facts = [numberOf(request), lastOf(request)]
  const [first = ''] = said.length > 0 ? said.map(({ text }) => text) : oneSentence(anyWords(gathered) ?? '')
  const whole = fitting(first, tokensMax - countTokens(`\n${facts[0]}`))
  return [...whole, ...facts].slice(0, snapshotSentences.min).join('\n')
}

const order = new Map(sections.map(({ name }, place) => [name, place]))

function bySection(left: Candidate, right: Candidate): number {
  return (order.get(left.section) ?? 0) - (order.get(right.section) ?? 0) || left.place - right.place
}

/** The text as exactly one sentence with a full stop; empty for a text without words. */
function oneSentence(text: string): string[] {
  const [first = ''] = proseSentences(text)
  const sentence = withStop(first)
  return proseSentences(sentence).length === 1 ? [sentence] : []
}

function withStop(sentence: string): string {
  return /[.!?…。！？؟।]["')\]»”」』]{0,2}$/u.test(sentence) ? sentence : `${sentence.replace(/[:;,]$/u, '')}.`
}

function fitting(sentence: string, tokensMax: number): string[] {
  for (let { length } = sentence; length >= CHARACTERS_MIN; length = Math.floor(length / 2)) {
    const cut = truncate(sentence, length)
    if (countTokens(cut) <= tokensMax) return oneSentence(cut)
  }
  return sentence !== '' && countTokens(sentence) <= tokensMax ? [sentence] : []
}

function numberOf({ messages }: SummaryRequest): string {
  const { length } = messages
  return `The window has ${length === 1 ? 'one message' : `${length} messages`}.`
}

function lastOf({ messages }: SummaryRequest): string {
  const role = messages.at(-1)?.role
  if (role === undefined) return 'Nothing was said in it.'
  const names = { user: 'the user', assistant: 'the assistant', tool_use: 'the assistant', tool_result: 'a tool' }
  return `The last one is of ${role in names ? names[role as keyof typeof names] : 'the system'}.`
}
