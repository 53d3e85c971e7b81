import { namedDates } from '../../dates/named-dates.js'

/** The part of a text in which dates are read. */
const TEXT_CHARACTERS_MAX = 8_000

/** A range of moments, in milliseconds since 1970; null for an open end. */
export interface MomentRange {
  /** Inclusive. */
  readonly fromMs: number | null
  /** Exclusive. */
  readonly toMs: number | null
}

/**
 * The moments that a text names, in its order: the beginning of each day, month or year, in UTC and milliseconds since
 * 1970. A date whose year is unknown is left out.
 *
 * @param saidAtMs from which "yesterday" counts; null if unknown
 */
export function namedMoments(text: string, saidAtMs: number | null): number[] {
  return namedDates(text.slice(0, TEXT_CHARACTERS_MAX), saidAtMs).flatMap(({ year, month, day }) =>
    year === null ? [] : [Date.UTC(year, (month ?? 1) - 1, day ?? 1)],
  )
}

export function isInRange(momentMs: number, { fromMs, toMs }: MomentRange): boolean {
  return (fromMs === null || momentMs >= fromMs) && (toMs === null || momentMs < toMs)
}

/** Whether a message is about a moment of the range: it names one, or names no moment and was said in the range. */
export function isAboutRange(named: readonly number[], atMs: number, range: MomentRange): boolean {
  return (named.length === 0 ? [atMs] : named).some((momentMs) => isInRange(momentMs, range))
}

/** The moment that a message is about: the first named one within the range, otherwise the moment at which it was said. */
export function momentOf(named: readonly number[], atMs: number, range: MomentRange): number {
  return named.find((momentMs) => isInRange(momentMs, range)) ?? atMs
}
