import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatTime, parseTime } from './times.js'

describe('times', () => {
  it('reads what Postgres writes', () => {
    expect(parseTime('2026-02-12 14:30:00.123+00')).toBe(Date.UTC(2026, 1, 12, 14, 30, 0, 123))
    expect(parseTime('2026-02-12 14:30:00+00')).toBe(Date.UTC(2026, 1, 12, 14, 30))
    expect(parseTime('infinity')).toBe(Number.POSITIVE_INFINITY)
    expect(parseTime('-infinity')).toBe(Number.NEGATIVE_INFINITY)
  })

  it('writes years before 1 and after 9999 as Postgres does', () => {
    expect(formatTime(Date.parse('0000-03-01T00:00:00Z'))).toBe('0001-03-01T00:00:00.000Z BC')
    expect(parseTime('0001-03-01 00:00:00+00 BC')).toBe(Date.parse('0000-03-01T00:00:00Z'))
    expect(formatTime(Date.parse('+012026-01-01T00:00:00Z'))).toBe('12026-01-01T00:00:00.000Z')
    expect(parseTime('12026-01-01 00:00:00+00')).toBe(Date.parse('+012026-01-01T00:00:00Z'))
  })

  it('reads every millisecond that it wrote', () => {
    const years = { min: Date.parse('-004700-01-01T00:00:00Z'), max: Date.parse('+200000-01-01T00:00:00Z') }
    fc.assert(
      fc.property(fc.integer(years), (timeMs) => {
        const asPostgresWrites = formatTime(timeMs).replace('T', ' ').replace('Z', '+00')
        expect(parseTime(asPostgresWrites)).toBe(timeMs)
      }),
    )
  })
})
