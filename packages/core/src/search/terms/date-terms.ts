import { isoDate, namedDates, yearlessDate } from '../../dates/named-dates.js'

/** The term of a date, which no word can be. */
export const dateTerm = (date: string) => `=on ${date}`

/** The terms of the dates in a text: each day with its month, and without its year, as queries may name it. */
export function dateTerms(text: string, saidAtMs: number | null): Set<string> {
  const terms = new Set<string>()
  for (const date of namedDates(text, saidAtMs)) {
    const [full, yearless] = [isoDate(date), yearlessDate(date)]
    if (full !== null) terms.add(dateTerm(full))
    if (full !== null && full.length > YEAR_AND_MONTH) terms.add(dateTerm(full.slice(0, YEAR_AND_MONTH)))
    if (yearless !== null) terms.add(dateTerm(yearless))
  }
  return terms
}

const YEAR_AND_MONTH = '2023-05'.length
