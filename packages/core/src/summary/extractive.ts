import { prefixWithinTokens } from '../recall/truncate.js'
import { countTokens } from '../tokens.js'
import { oneLine } from '../tools/lines.js'
import { ActionLog } from './actions.js'
import { previousLines } from './previous.js'
import { type Candidate, sections } from './sections.js'
import { chooseLines, formatLine, type Layout, Shortlist } from './select.js'
import { sentencesOf, speechOf } from './sentences.js'
import type { SummaryRequest, SummarySource } from './source.js'
import { statementsOf } from './statements.js'

/** References cost about twelve tokens a line: a summary that is shorter than this has better use for them. */
const REFERENCES_TOKENS_MIN = 500
/** Shorter summaries are lines without headings. */
const HEADINGS_TOKENS_MIN = 120

/**
 * Summarizes without a model: it takes what was said word for word, the weightiest lines first, and puts them under short
 * headings, with references to the messages. Requirements, decisions, files, commands, failures and the latest state
 * weigh most; what is recent or was repeated weighs more.
 *
 * The same request gives the same summary; it takes time linear in the messages. The result is never more than
 * `tokensMax` tokens, and empty only where there is nothing to summarize.
 */
export function summarizeExtractively(request: SummaryRequest): string {
  const { messages, previousSummary, tokensMax } = request
  const shortlist = new Shortlist()
  for (const candidate of previousLines(previousSummary ?? '')) shortlist.add(candidate)
  gather(messages, shortlist)
  const layout = {
    withHeadings: tokensMax >= HEADINGS_TOKENS_MIN,
    withReferences: tokensMax >= REFERENCES_TOKENS_MIN,
  }
  const summary = render(chooseLines(shortlist, tokensMax, layout), layout, tokensMax)
  if (summary !== '') return summary
  const words = lastResort(shortlist, request)
  // A character may take three tokens; the mark of something left out takes one.
  return cut(words, tokensMax) || (words === '' ? '' : '…')
}

function gather(messages: readonly SummarySource[], shortlist: Shortlist): void {
  const log = new ActionLog()
  const firstRequest = messages.findIndex(({ role }) => role === 'user')
  const latestRequest = messages.findLastIndex(({ role }) => role === 'user')
  const latestReply = messages.findLastIndex(({ role, text }) => role === 'assistant' && speechOf(text).trim() !== '')
  const isTalk = !messages.some(
    ({ role, toolName }) => role === 'tool_result' || role === 'tool_use' || toolName !== null,
  )
  for (const [place, source] of messages.entries()) {
    if (source.role === 'tool_result') log.addResult(source, place)
    else if (source.role === 'assistant' || source.role === 'tool_use') log.addCalls(source, place)
    const standing = {
      place,
      recency: messages.length === 1 ? 1 : place / (messages.length - 1),
      isFirstRequest: place === firstRequest,
      isLatestRequest: place === latestRequest,
      isLatestReply: place === latestReply,
      isTalk,
    }
    for (const candidate of statementsOf(source, standing)) shortlist.add(candidate)
  }
  for (const candidate of log.candidates(messages.length)) shortlist.add(candidate)
}

function render(lines: readonly Candidate[], { withHeadings, withReferences }: Layout, tokensMax: number): string {
  const blocks = sections.flatMap(({ name, heading }) => {
    const own = lines.filter(({ section }) => section === name)
    // Files stand by their weight, what was said in the order in which it was said.
    if (name !== 'files') own.sort((left, right) => left.place - right.place)
    if (own.length === 0) return []
    // Neighbours from one message share the reference of the last one.
    const text = own.map((line, index) =>
      formatLine(line, withReferences && line.reference !== own[index + 1]?.reference),
    )
    return [[...(withHeadings ? [`## ${heading}`] : []), ...text].join('\n')]
  })
  return cut(blocks.join(withHeadings ? '\n\n' : '\n'), tokensMax)
}

/** Where no line fits or none was found: the weightiest line, the last words, or at least how much there was. */
function lastResort(shortlist: Shortlist, { messages, previousSummary }: SummaryRequest): string {
  for (const name of ['requests', 'state', 'facts', 'decisions', 'errors', 'files', 'commands', 'questions'] as const) {
    const first = shortlist.of(name)[0]
    if (first) return first.text
  }
  const words = messages
    .map(({ role, text }) => (role === 'tool_result' ? '' : sentencesOf(text).join(' ')))
    .findLast(Boolean)
  if (words !== undefined) return words
  if (messages.length === 0) return oneLine(previousSummary ?? '', Number.POSITIVE_INFINITY)
  return messages.length === 1 ? '1 message without words' : `${messages.length} messages without words`
}

function cut(text: string, tokensMax: number): string {
  if (countTokens(text) <= tokensMax) return text
  let kept = text.slice(0, prefixWithinTokens(text, tokensMax))
  while (kept !== '' && countTokens(kept) > tokensMax) kept = kept.slice(0, -1).toWellFormed()
  return kept
}
