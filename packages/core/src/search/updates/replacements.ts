import { termsOf } from '../terms/words.js'
import { type AskedValue, askedValue } from './asked-value.js'
import { type StatedValue, statedValues } from './stated-values.js'
import { isLater, proseOf, type Statement } from './statement.js'

/** Part of the subject's terms around a value, at least, for the value to be about it. */
const SHARE_LEAST = 0.25

/** The same terms anywhere in the statement count less. */
const SHARE_OF_WHOLE = 0.5

/**
 * A statement much less about the subject than others is about something else: it is not replaced, nor does it replace
 * what others do.
 */
const SHARE_OF_BEST = 0.6

/**
 * Which results of a question are replaced by which: of two statements of the value that it asks for, one with another
 * value that says to be new replaces an earlier one.
 *
 * @returns for each statement the indexes of those that replace it, the latest first; none for those that hold
 */
export function findReplacements(question: string, statements: readonly Statement[]): readonly (readonly number[])[] {
  const asked = askedValue(question)
  if (asked === null) return statements.map(() => [])
  const values = statements.map(({ text, isOfPerson }) => (isOfPerson ? relevantValues(text, asked) : []))
  const shareOf = (of: readonly RelevantValue[]) => Math.max(0, ...of.map(({ share }) => share))
  const best = Math.max(...values.map(shareOf))
  return statements.map((earlier, index) => {
    if (shareOf(values[index] ?? []) < SHARE_OF_BEST * best) return []
    const replacing = statements.flatMap((later, other) => {
      const share = isLater(later, earlier) ? shareReplacing(values[other] ?? [], values[index] ?? [], asked) : 0
      return share === 0 ? [] : [{ ...later, index: other, share }]
    })
    const most = Math.max(0, ...replacing.map(({ share }) => share))
    return replacing
      .filter(({ share }) => share >= SHARE_OF_BEST * most)
      .sort((left, right) => (isLater(left, right) ? -1 : 1))
      .map((each) => each.index)
  })
}

/** The indexes of results in their order, but those that replace a result before it, the latest first. */
export function newerFirst(replacements: readonly (readonly number[])[]): number[] {
  const order = new Set<number>()
  for (const [index, newer] of replacements.entries()) for (const each of [...newer, index]) order.add(each)
  return [...order]
}

interface RelevantValue extends StatedValue {
  /** The share of the subject's terms around it, from 0 to 1. */
  readonly share: number
}

function relevantValues(text: string, asked: AskedValue): RelevantValue[] {
  const values = statedValues(text).filter((stated) => isAsked(stated, asked))
  if (values.length === 0) return []
  const shareOf = (...held: ReadonlySet<string>[]) =>
    asked.subject.size === 0
      ? 1
      : [...asked.subject].filter((term) => held.some((terms) => terms.has(term))).length / asked.subject.size
  const ofWhole = SHARE_OF_WHOLE * shareOf(new Set(termsOf(proseOf(text))))
  return values.flatMap((stated) => {
    const share = Math.max(shareOf(stated.around, stated.units), ofWhole)
    return share >= SHARE_LEAST ? [{ ...stated, share }] : []
  })
}

function isAsked({ isDate, isBare, units, around }: StatedValue, asked: AskedValue): boolean {
  if (asked.isDate !== isDate) return false
  if (asked.counted.size === 0) return true
  const counted = [...asked.counted]
  if (!counted.some((term) => units.has(term) || (isBare && around.has(term)))) return false
  return counted.filter((term) => units.has(term) || around.has(term)).length >= counted.length / 2
}

/** How much the value that replaces an earlier one is about the subject; 0 if none does. */
function shareReplacing(later: readonly RelevantValue[], earlier: readonly RelevantValue[], asked: AskedValue): number {
  const isOfKind = ({ units }: RelevantValue) =>
    asked.isDate || asked.counted.size > 0 || earlier.some((old) => [...old.units].some((unit) => units.has(unit)))
  const replacing = later.filter((now) => {
    return earlier.length > 0 && now.isNew && isOfKind(now) && !earlier.some(({ value }) => value === now.value)
  })
  return Math.max(0, ...replacing.map(({ share }) => share))
}
