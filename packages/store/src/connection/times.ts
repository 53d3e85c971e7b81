/**
 * Times enter and leave the store as milliseconds since 1970, never as `Date` objects or texts in a session's zone. These two
 * functions convert them to and from Postgres's format with `TimeZone` UTC and `DateStyle` ISO, which every connection sets.
 * Postgres writes years before 1 as `BC` and has no year 0; JavaScript has the years 0, -1, -2.
 */
export function formatTime(timeMs: number): string {
  // The messages of one append often share their time.
  if (timeMs !== latest.timeMs) latest = { timeMs, text: spell(timeMs) }
  return latest.text
}

let latest = { timeMs: Number.NaN, text: '' }

function spell(timeMs: number): string {
  if (!Number.isFinite(timeMs)) return timeMs > 0 ? 'infinity' : '-infinity'
  const iso = new Date(timeMs).toISOString()
  if (iso.length === 24 && !iso.startsWith('0000')) return iso
  const [, sign, digits, rest] = iso.match(/^([+-]?)(\d+)(-.*)$/) ?? []
  const year = Number(`${sign}${digits}`)
  if (year > 0) return `${year}${rest}`
  return `${String(1 - year).padStart(4, '0')}${rest} BC`
}

/** Reads `2026-02-12 14:30:00.123+00`. */
export function parseTime(text: string): number {
  if (text !== parsed.text) parsed = { text, timeMs: read(text) }
  return parsed.timeMs
}

let parsed = { text: '', timeMs: Number.NaN }

function read(text: string): number {
  if (text === 'infinity') return Number.POSITIVE_INFINITY
  if (text === '-infinity') return Number.NEGATIVE_INFINITY
  const [date = '', time = ''] = text.split(' ')
  const clock = time.replace('+00', 'Z')
  if (date.length === 10 && !text.endsWith('BC')) return Date.parse(`${date}T${clock}`)
  const [, digits = '', rest] = date.match(/^(\d+)(-.*)$/) ?? []
  const year = text.endsWith('BC') ? 1 - Number(digits) : Number(digits)
  const sign = year < 0 ? '-' : '+'
  return Date.parse(`${sign}${String(Math.abs(year)).padStart(6, '0')}${rest}T${clock}`.replace('-000000', '+000000'))
}
