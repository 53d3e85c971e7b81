import { isOnlySigns, oneLine, truncate } from '../tools/lines.js'
import { type Candidate, type SectionName, sections } from './sections.js'
import { isProtocol, SENTENCE_CHARACTERS_MAX } from './sentences.js'

/** What is read of an earlier summary; one that is longer was made without a limit. */
const CHARACTERS_MAX = 60_000

/** Weights of what an earlier summary says: requests and decisions last, states and questions age. */
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
}

/** The lines of an earlier summary, each under the section that its heading stands for; its state is history by now. */
export function previousLines(summary: string): Candidate[] {
  const candidates: Candidate[] = []
  let section: SectionName = 'facts'
  for (const rawLine of summary.slice(0, CHARACTERS_MAX).toWellFormed().split('\n')) {
    const heading = /^\s*(?:#{1,6}\s*(.{1,80})|(?:\*\*|\d{1,2}\. )?([\w ,/&-]{2,60}?)(?:\*\*)?:(?:\*\*)?)\s*$/.exec(
      rawLine,
    )
    if (heading) {
      const words = heading[1] ?? heading[2] ?? ''
      section = sections.find(({ like }) => like.test(words))?.name ?? 'facts'
      continue
    }
    const reference = /\[recall:([^\]]{1,200})\]\s*$/.exec(rawLine)?.[1] ?? ''
    const text = oneLine(rawLine.replace(/\[recall:[^\]]{0,200}\]/g, ''), 2_000).replace(
      /^(?:[-*+•]|\d{1,3}[.)])\s+/,
      '',
    )
    if (isOnlySigns(text) || isProtocol(text)) continue
    candidates.push({
      section: section === 'state' ? 'facts' : section,
      text: truncate(text, SENTENCE_CHARACTERS_MAX),
      score: SCORES[section],
      place: -1,
      reference,
    })
  }
  return candidates
}
