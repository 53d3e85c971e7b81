import type { ReceiptEntry } from '@heddle/contracts'
import { missingFrom } from '../data/missing.js'
import { counted, figure } from '../data/text.js'
import { matcherOf } from '../search/highlight.js'
import { type Statement, wholeOf } from './statement.js'

export interface Found {
  readonly statement: Statement
  /** The line of the receipt that accounts for it. */
  readonly line: ReceiptEntry | undefined
}

export interface Answer {
  readonly verdict: 'Yes' | 'No' | 'In part'
  readonly text: string
}

/** Matches whose figures, paths and names are looked for. */
const MATCHES_READ = 3
const NAMED_MAX = 8

/**
 * Whether the model got the messages with the words of a statement, in two sentences.
 *
 * @param all in the order of the search, without those that came after the context
 * @param delivered everything that the model got
 * @param terms the words of the statement, in lower case
 */
export function answerOf(all: readonly Found[], delivered: string, terms: readonly string[]): Answer {
  const matcher = matcherOf(terms)
  const withTerms = all.filter(({ statement }) => matcher !== null && wholeOf(statement).search(matcher) >= 0)
  // Messages of the same meaning in other words, unless some have the words.
  const found = withTerms.length === 0 ? all : withTerms
  const counts = { verbatim: 0, shorter: 0, covered: 0, absent: 0 }
  for (const { line } of found) counts[formOf(line)]++
  const unseen = found.filter(({ line }) => line?.mode !== 'raw').slice(0, MATCHES_READ)
  const missing = [
    ...new Set(unseen.flatMap(({ statement }) => missingFrom(wholeOf(statement), delivered, terms).named)),
  ]
  const isElsewhere =
    missing.length === 0 && unseen.some(({ statement }) => missingFrom(wholeOf(statement), '').count > 0)
  const pieces =
    missing.length > 0
      ? ` Nowhere in it: ${missing.slice(0, NAMED_MAX).join(', ')}${missing.length > NAMED_MAX ? ' and more' : ''}.`
      : isElsewhere
        ? ' Figures, paths and names of what is not verbatim are in it all the same.'
        : ''
  return {
    verdict: verdictOf(counts, isElsewhere),
    text: `${tallyOf(counts, found.length, withTerms.length > 0)}.${pieces}`,
  }
}

type Counts = Readonly<Record<'verbatim' | 'shorter' | 'covered' | 'absent', number>>

function formOf(line: ReceiptEntry | undefined): keyof Counts {
  if (line === undefined || line.mode === 'left-out' || line.mode === 'removed') return 'absent'
  if (line.mode === 'raw') return 'verbatim'
  return line.mode === 'covered' ? 'covered' : 'shorter'
}

function verdictOf({ verbatim, shorter, covered, absent }: Counts, isElsewhere: boolean): Answer['verdict'] {
  if (shorter + covered + absent === 0) return 'Yes'
  return verbatim + shorter > 0 || isElsewhere ? 'In part' : 'No'
}

const forms = [
  ['verbatim', 'in this context verbatim'],
  ['shorter', 'in a shorter form'],
  ['covered', 'behind a summary'],
  ['absent', 'not in it'],
] as const

function tallyOf(counts: Counts, total: number, isByWords: boolean): string {
  const parts = forms
    .filter(([form]) => counts[form] > 0)
    .map(([form, words]) => `${figure(counts[form])} ${counts[form] === 1 ? 'is' : 'are'} ${words}`)
  const tally = parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`
  return `Of ${counted(total, 'message')} ${isByWords ? 'with these words' : 'of a similar meaning'}, ${tally}`
}
