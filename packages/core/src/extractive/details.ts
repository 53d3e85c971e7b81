import type { Candidate } from '../speech/sections.js'
import { countTokens } from '../tokens/tokens.js'
import { describeSubject } from './describe.js'
import type { NameIndex } from './name-index.js'
import { baseName, namesIn } from './names.js'
import type { PathView } from './path-view.js'
import type { Subject } from './subjects.js'

/** Subjects considered for lines. */
const SUBJECTS_MAX = 120
/** Exponent of a name's weight: a name of twice the weight is needed far more than twice as often. */
const POWER = 3
/** A subject's own share of a line's weight, beside the names on the line. */
const OWN_SHARE = { file: 0.5, action: 0.8 } as const
/** Free tokens of a line: short lines carry less than their share of information. */
const LINE_TOKENS = 12

export interface DetailsRequest {
  readonly subjects: readonly Subject[]
  readonly index: NameIndex
  readonly paths: PathView
  /** Messages of the conversation. */
  readonly length: number
  /** Names that other lines already contain. */
  readonly told: ReadonlySet<string>
  readonly tokensMax: number
}

/** Lines about files and commands, chosen by weight per token until the tokens are used up. */
export function detailLines({ subjects, index, paths, length, told, tokensMax }: DetailsRequest): Candidate[] {
  const weighed = subjects
    .map((subject) => ({ subject, weight: ownWeight(subject, index, length) }))
    .sort((left, right) => right.weight - left.weight)
    .slice(0, SUBJECTS_MAX)
  const items = weighed.map(({ subject, weight }) => {
    const label = subject.kind === 'file' ? paths.show(subject.label) : paths.within(subject.label)
    const text = describeSubject(subject, label)
    // Results of similar calls have similar names; changed names matter more than shown ones.
    const names = subject.kind === 'file' ? [...namesIn(text)].filter((name) => !told.has(name)) : []
    const gain = names.reduce((sum, name) => sum + index.weight(name, length) ** POWER, 0)
    const tokens = countTokens(`- ${text}\n`) + 1
    const value = (OWN_SHARE[subject.kind] * weight ** POWER + gain) / (LINE_TOKENS + tokens)
    return { subject, text, score: weight, tokens, value }
  })
  items.sort((left, right) => right.value - left.value)
  let left = tokensMax
  return items.flatMap(({ subject, text, score, tokens }): Candidate[] => {
    if (tokens > left) return []
    left -= tokens
    return [
      { section: subject.kind === 'file' ? 'files' : 'commands', text, score, place: subject.place, reference: '' },
    ]
  })
}

function ownWeight(subject: Subject, index: NameIndex, length: number): number {
  const recency = length <= 1 ? 1 : subject.place / (length - 1)
  if (subject.kind === 'action') return subject.importance + Math.log2(Math.max(1, subject.runs)) + 2 * recency
  const { count } = subject.edits
  const edits = count > 0 ? 4 + Math.min(4, Math.log2(1 + count)) : 0
  return edits + Math.min(2, Math.log2(1 + subject.views)) + index.weight(baseName(subject.label), length)
}
