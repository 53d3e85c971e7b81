import type { Pausable } from '../recall/steps.js'
import { prefixWithinTokens } from '../recall/truncate.js'
import { type Candidate, type SectionName, sections } from '../speech/sections.js'
import { sentencesOf } from '../speech/sentences.js'
import type { SummaryRequest } from '../speech/source.js'
import { countTokens } from '../tokens/tokens.js'
import { oneLine } from '../tools/lines.js'
import { type Gathered, gather } from './collect.js'
import { detailLines } from './details.js'
import { nameLines } from './name-lines.js'
import { Chooser, type Entry, entryOf, formatLine, type Layout } from './select.js'

/** References take about twelve tokens per line, too many for a summary shorter than this. */
const REFERENCES_TOKENS_MIN = 500
/** Shorter summaries are lines without headings. */
const HEADINGS_TOKENS_MIN = 120

/** Tokens of a typical goal, and its maximum share of a short summary. */
const GOAL_TOKENS = 160
const GOAL_SHARE_MAX = 0.4
/** Share of the tokens for identifiers that no sentence mentions, in a summary long enough for references. */
const NAMES_SHARE = 0.56
const NAMES_HEADING_TOKENS = 6
/** Minimum share of the tokens for lines about files and commands. */
const DETAILS_SHARE = 0.22

/** Tokens of the headings over files and commands. */
const HEADINGS_TOKENS = 16

/**
 * Summarizes without a model. Sentences of the conversation are copied verbatim, the weightiest first; changes to each
 * file and outcomes of each command are described, with the names that matter most. Names used often, recently, in
 * edits, by the user or in plans weigh most, because the work is likely to continue with them.
 *
 * The same request gives the same summary, in time linear in the messages. The result is at most `tokensMax` tokens,
 * and empty only if there is nothing to summarize. It yields after a few milliseconds of work at most for messages of usual
 * lengths.
 */
export function* summarizeConversation(request: SummaryRequest): Pausable<string> {
  const { tokensMax } = request
  const gathered = yield* gather(request)
  const layout = {
    withHeadings: tokensMax >= HEADINGS_TOKENS_MIN,
    withReferences: tokensMax >= REFERENCES_TOKENS_MIN,
  }
  const summary = render(yield* chooseLines(gathered, request, layout), layout, tokensMax)
  if (summary !== '') return summary
  const words = lastResort(gathered, request)
  // A character may take three tokens; the truncation mark takes one.
  return cut(words, tokensMax) || (words === '' ? '' : '…')
}

/**
 * First spoken sentences, each section within its share, then files and commands, then whatever still fits. In the order of their
 * choice.
 */
export function* chooseLines(
  { shortlist, index, log, paths }: Gathered,
  request: SummaryRequest,
  layout: Layout,
): Pausable<Candidate[]> {
  const { messages, tokensMax } = request
  const { length } = messages
  const chooser = new Chooser(tokensMax, layout, (name) => index.weight(name, length))
  const goals = shortlist.of('goal').map(({ text }) => text)
  const isTold = ({ section, text }: Candidate) => section !== 'goal' && goals.some((goal) => goal.includes(text))
  const entries = new Map<SectionName, Entry[]>()
  for (const { name } of sections) {
    entries.set(
      name,
      shortlist.of(name).flatMap((each) => (isTold(each) ? [] : [entryOf(each)])),
    )
    yield
  }
  if (layout.withHeadings) {
    for (const { name, share } of sections) {
      const room = Math.floor(tokensMax * share)
      chooser.fill(entries.get(name) ?? [], name === 'goal' ? Math.max(room, goalRoom(tokensMax)) : room)
      yield
    }
    if (paths.root !== '') chooser.fill([entryOf(paths.line())], chooser.tokensLeft)
    const length = messages.length
    const namesMax = layout.withReferences ? Math.floor(tokensMax * NAMES_SHARE) : 0
    const room = Math.max(Math.floor(tokensMax * DETAILS_SHARE), chooser.tokensLeft - HEADINGS_TOKENS - namesMax)
    const subjects = log.subjects.all()
    const details = detailLines({ subjects, index, paths, length, told: chooser.told, tokensMax: room })
    chooser.fill(details.map(entryOf), room)
    yield
    const names = nameLines({
      index,
      length,
      told: chooser.told,
      tokensMax: Math.min(namesMax, chooser.tokensLeft) - NAMES_HEADING_TOKENS,
    })
    chooser.fill(namesMax === 0 ? [] : names.map(entryOf), namesMax)
    yield
  }
  chooser.fill([...entries.values()].flat(), chooser.tokensLeft)
  return chooser.lines
}

/** Tokens for the goal: a goal cut too short is useless. */
function goalRoom(tokensMax: number): number {
  return Math.min(GOAL_TOKENS, Math.floor(tokensMax * GOAL_SHARE_MAX))
}

function render(lines: readonly Candidate[], { withHeadings }: Layout, tokensMax: number): string {
  const blocks = sections.flatMap(({ name, heading }) => {
    const own = lines.filter(({ section }) => section === name)
    // The goal and files are ordered by weight, spoken sentences chronologically.
    const isByWeight = name === 'files' || name === 'goal' || name === 'names'
    own.sort((left, right) => (isByWeight ? right.score - left.score : left.place - right.place))
    if (own.length === 0) return []
    return [[...(withHeadings ? [`## ${heading}`] : []), ...own.map(formatLine)].join('\n')]
  })
  return cut(blocks.join(withHeadings ? '\n\n' : '\n'), tokensMax)
}

/** If no line was found or fits: the weightiest line, the latest text, or at least the number of messages. */
function lastResort(gathered: Gathered, { previousSummary }: SummaryRequest): string {
  const { messages } = gathered
  const words = anyWords(gathered)
  if (words !== null) return words
  if (messages.length === 0) return oneLine(previousSummary ?? '', Number.POSITIVE_INFINITY)
  return messages.length === 1 ? '1 message without words' : `${messages.length} messages without words`
}

/** The weightiest line, however long, or the latest text; null if nothing was said. */
export function anyWords({ shortlist, messages }: Gathered): string | null {
  for (const name of ['requests', 'goal', 'state', 'facts', 'decisions', 'errors', 'next', 'questions'] as const) {
    const first = shortlist.of(name)[0]
    if (first) return first.text
  }
  const words = messages.map(({ role, text }) => (role === 'tool_result' ? '' : sentencesOf(text).join(' ')))
  return words.findLast(Boolean) ?? null
}

function cut(text: string, tokensMax: number): string {
  if (countTokens(text) <= tokensMax) return text
  let kept = text.slice(0, prefixWithinTokens(text, tokensMax))
  while (kept !== '' && countTokens(kept) > tokensMax) kept = kept.slice(0, -1).toWellFormed()
  return kept
}
