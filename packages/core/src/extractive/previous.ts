import { BEFORE_MARK, type EarlierGoal, FIRST_MARK, THEN_MARK } from '../speech/request-log.js'
import { type Candidate, type SectionName, sections } from '../speech/sections.js'
import { isProtocol, SENTENCE_CHARACTERS_MAX } from '../speech/sentences.js'
import { isOnlySigns, oneLine, truncate } from '../tools/lines.js'

/** Characters read of an earlier summary; a longer one was made without a limit. */
const CHARACTERS_MAX = 60_000

/** Weights of the sections of an earlier summary: requests and decisions stay valid, states and questions age. */
const SCORES: Readonly<Record<SectionName, number>> = {
  goal: 12,
  requests: 11,
  decisions: 8,
  facts: 6,
  files: 5,
  commands: 2,
  errors: 5,
  questions: 3,
  state: 4,
  next: 3,
  names: 1,
}

const MARKS = [BEFORE_MARK, FIRST_MARK, THEN_MARK]
/** A longer line is not a heading, whatever it begins with. */
const HEADING_CHARACTERS_MAX = 400
const HEADING = /^\s*(?:#{1,6}\s*(.{1,80})|(?:\*\*|\d{1,2}\. )?([\w ,/&-]{2,60}?)(?:\*\*)?:(?:\*\*)?)\s*$/

function referenceOf(line: string): string {
  return /\[recall:([^\]]{1,200})\]\s*$/.exec(line)?.[1] ?? ''
}

function wordsOf(line: string): string {
  return oneLine(line.replace(/\[recall:[^\]]{0,200}\]/g, ''), 2_000).replace(/^(?:[-*+•]|\d{1,3}[.)])\s+/, '')
}

/** The lines of an earlier summary, each in the section of its heading; its state becomes a fact of the past. */
export function previousLines(summary: string): Candidate[] {
  const candidates: Candidate[] = []
  let section: SectionName = 'facts'
  for (const rawLine of summary.slice(0, CHARACTERS_MAX).toWellFormed().split('\n')) {
    const heading = rawLine.length > HEADING_CHARACTERS_MAX ? null : HEADING.exec(rawLine)
    if (heading) {
      const words = heading[1] ?? heading[2] ?? ''
      section = sections.find(({ like }) => like.test(words))?.name ?? 'facts'
      continue
    }
    const reference = referenceOf(rawLine)
    const text = wordsOf(rawLine)
    if (isOnlySigns(text) || isProtocol(text)) continue
    const mark = MARKS.find((each) => text.startsWith(each)) ?? ''
    candidates.push({
      // A goal may have been replaced since: the caller decides, and here its lines are requests.
      section: section === 'state' ? 'facts' : section === 'goal' ? 'requests' : section,
      text: truncate(text.slice(mark.length), SENTENCE_CHARACTERS_MAX),
      score: SCORES[section],
      place: -1,
      reference,
    })
  }
  return candidates
}

/** The goal of an earlier summary, of the last one if several are concatenated; null without a goal. */
export function previousGoal(summary: string): EarlierGoal | null {
  return goalBlocks(summary).reduce<EarlierGoal | null>((earlier, lines) => {
    const marked = (mark: string) => lines.find(({ text }) => text.startsWith(mark))?.text.slice(mark.length) ?? null
    const [head, ...more] = lines.filter(({ text }) => !MARKS.some((mark) => text.startsWith(mark)))
    if (!head) return earlier
    // A lead-in is joined with the list that it introduces.
    const words = head.text.endsWith(':') ? [head.text, more.map(({ text }) => text).join('; ')].join(' ') : head.text
    return {
      text: truncate(words, SENTENCE_CHARACTERS_MAX),
      before: marked(BEFORE_MARK) ?? earlier?.text ?? null,
      first: earlier?.first ?? marked(FIRST_MARK),
      reference: head.reference,
    }
  }, null)
}

/** The lines below each heading of a goal. */
function goalBlocks(summary: string): { readonly text: string; readonly reference: string }[][] {
  const blocks: { readonly text: string; readonly reference: string }[][] = []
  let isGoal = false
  for (const rawLine of summary.slice(0, CHARACTERS_MAX).toWellFormed().split('\n')) {
    const heading = HEADING.exec(rawLine)
    if (heading && !(isGoal && rawLine.startsWith(' '))) {
      isGoal = sections[0]?.like.test(heading[1] ?? heading[2] ?? '') === true
      if (isGoal) blocks.push([])
      continue
    }
    const text = wordsOf(rawLine)
    if (isGoal && !isOnlySigns(text) && !isProtocol(text))
      blocks.at(-1)?.push({ text, reference: referenceOf(rawLine) })
  }
  return blocks
}
