/**
 * A day, a month or a year that a text names, as far as it is known: "May 7" has no year without the time at which it was
 * said.
 */
export interface NamedDate {
  readonly year: number | null
  /** 1 to 12. */
  readonly month: number | null
  readonly day: number | null
  /** The place in the text. */
  readonly from: number
}

/** Dates of one text that are read; a table of logs has thousands. */
const DATES_MAX = 50

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'] as const
const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const
const COUNTS = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'] as const

const MONTH =
  '(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)'
const DAY = '(\\d{1,2})(?:st|nd|rd|th)?'
const YEAR = '((?:19|20)\\d\\d)'
const COUNT = `(\\d{1,3}|an?|${COUNTS.slice(1).join('|')})`
const WEEKDAY = '(sun|mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?)(?:day)?'

const DATE = new RegExp(
  [
    `\\b${YEAR}-(\\d{2})-(\\d{2})(?!\\d)`,
    `\\b${MONTH}\\.? ${DAY}\\b(?:,? ${YEAR}\\b)?`,
    `\\b${DAY} (?:of )?${MONTH}\\b(?:,? ${YEAR}\\b)?`,
    `\\b${MONTH},? ${YEAR}\\b`,
    '\\b(today|tonight|yesterday|last night|tomorrow)\\b',
    `\\b(last|this|next|past) ${WEEKDAY}\\b`,
    `\\b${COUNT} (day|week|month|year)s? ago\\b`,
    '\\b(last|next) (month|year)\\b',
  ].join('|'),
  'gi',
)

/** @param saidAtMs the time at which the text was said, from which "yesterday" counts; null if unknown */
export function namedDates(text: string, saidAtMs: number | null): NamedDate[] {
  const dates: NamedDate[] = []
  for (const match of text.matchAll(DATE)) {
    const date = read(match, saidAtMs === null ? null : new Date(saidAtMs))
    if (date !== null && isDate(date)) dates.push({ ...date, from: match.index })
    if (dates.length === DATES_MAX) break
  }
  return dates
}

type Read = Omit<NamedDate, 'from'>

function read(match: RegExpMatchArray, said: Date | null): Read | null {
  const [, isoYear, isoMonth, isoDay, ...rest] = match
  const [month1, day1, year1, day2, month2, year2, month3, year3, ...relative] = rest
  if (isoYear !== undefined) return { year: Number(isoYear), month: Number(isoMonth), day: Number(isoDay) }
  if (month1 !== undefined) return withYear(month1, day1, year1, said)
  if (month2 !== undefined) return withYear(month2, day2, year2, said)
  if (month3 !== undefined) return { year: Number(year3), month: monthOf(month3), day: null }
  return said === null ? null : fromNow(relative, said)
}

/** Without a year, the date nearest to when it was said. */
function withYear(month: string, day: string | undefined, year: string | undefined, said: Date | null): Read {
  const date = { month: monthOf(month), day: Number(day) }
  if (year !== undefined) return { ...date, year: Number(year) }
  if (said === null) return { ...date, year: null }
  const of = said.getUTCFullYear()
  const distance = (candidate: number) => Math.abs(Date.UTC(candidate, date.month - 1, date.day) - said.getTime())
  const [nearest = of] = [of - 1, of, of + 1].sort((left, right) => distance(left) - distance(right))
  return { ...date, year: nearest }
}

function fromNow(
  [plain, side, weekday, count, unit, lastOrNext, span]: readonly (string | undefined)[],
  said: Date,
): Read | null {
  if (plain !== undefined) {
    const word = plain.toLowerCase()
    return daysFrom(said, word === 'tomorrow' ? 1 : word === 'yesterday' || word === 'last night' ? -1 : 0)
  }
  if (side !== undefined && weekday !== undefined) return weekdayFrom(said, side.toLowerCase(), weekday)
  if (count !== undefined && unit !== undefined) return ago(said, countOf(count), unit.toLowerCase())
  if (lastOrNext === undefined || span === undefined) return null
  return stepped(said, lastOrNext.toLowerCase() === 'last' ? -1 : 1, span.toLowerCase())
}

const DAY_MS = 86_400_000

function daysFrom(said: Date, days: number): Read {
  const at = new Date(said.getTime() + days * DAY_MS)
  return { year: at.getUTCFullYear(), month: at.getUTCMonth() + 1, day: at.getUTCDate() }
}

function weekdayFrom(said: Date, side: string, weekday: string): Read {
  const wanted = WEEKDAYS.indexOf(weekday.slice(0, 3).toLowerCase() as (typeof WEEKDAYS)[number])
  const ahead = (wanted - said.getUTCDay() + 7) % 7
  if (side === 'this') return daysFrom(said, ahead)
  return daysFrom(said, side === 'next' ? ahead || 7 : (ahead || 7) - 7 || -7)
}

function ago(said: Date, count: number, unit: string): Read {
  if (unit === 'day' || unit === 'week') return daysFrom(said, -count * (unit === 'week' ? 7 : 1))
  return stepped(said, -count, unit)
}

function stepped(said: Date, steps: number, unit: string): Read {
  const months = said.getUTCFullYear() * 12 + said.getUTCMonth() + steps * (unit === 'year' ? 12 : 1)
  return { year: Math.floor(months / 12), month: unit === 'year' ? null : (months % 12) + 1, day: null }
}

function countOf(word: string): number {
  const known = COUNTS.indexOf(word.toLowerCase() as (typeof COUNTS)[number])
  if (known >= 0) return known
  return /^an?$/i.test(word) ? 1 : Number(word)
}

function monthOf(word: string): number {
  return MONTHS.indexOf(word.slice(0, 3).toLowerCase() as (typeof MONTHS)[number]) + 1
}

function isDate({ month, day }: Read): boolean {
  return (month === null || (month >= 1 && month <= 12)) && (day === null || (day >= 1 && day <= 31))
}

/** The date as a prefix of an ISO time; null without a year. */
export function isoDate({ year, month, day }: Read): string | null {
  if (year === null) return null
  if (month === null) return `${year}`
  return day === null ? `${year}-${two(month)}` : `${year}-${two(month)}-${two(day)}`
}

/** Month and day without the year; null if one is missing. */
export function yearlessDate({ month, day }: Read): string | null {
  return month === null || day === null ? null : `${two(month)}-${two(day)}`
}

function two(value: number): string {
  return String(value).padStart(2, '0')
}
