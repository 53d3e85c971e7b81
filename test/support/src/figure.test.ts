import { describe, expect, test } from 'vitest'
import { formatFigure, isWanted, meets, toFigure } from './figure.js'

describe('a figure', () => {
  test('is one line of JSON with its ceiling, ratio, target and verdict', () => {
    const figure = toFigure({
      name: 'ingest.batch.redis',
      value: 31_000,
      unit: 'messages/s',
      ceiling: 52_000,
      target: '>= 0.5',
    })
    expect(formatFigure(figure)).toBe(
      '{"name":"ingest.batch.redis","value":31000,"unit":"messages/s","ceiling":52000,"ratio":0.5962,"target":">= 0.5","pass":true}',
    )
  })

  test('without a target has no verdict', () => {
    const figure = toFigure({
      name: 'build.cold.redis',
      value: 12.345_678,
      unit: 'ms',
      ceiling: 2,
      note: 'first build',
    })
    expect(figure).toMatchObject({ value: 12.35, ratio: 6.173, target: null, pass: null, note: 'first build' })
  })

  test('without a ceiling has no ratio', () => {
    expect(toFigure({ name: 'recall.range', value: 3, unit: 'ms' })).toMatchObject({ ceiling: null, ratio: null })
  })

  test('without a ceiling is judged by its value', () => {
    const lost = { name: 'ingest.lost.redis', unit: 'messages', target: '<= 0' }
    expect(toFigure({ ...lost, value: 0 }).pass).toBe(true)
    expect(toFigure({ ...lost, value: 1 }).pass).toBe(false)
  })

  test('is judged by the ratio as measured, not as printed', () => {
    expect(toFigure({ name: 'a', value: 0.499_999, unit: 's', ceiling: 1, target: '>= 0.5' }).pass).toBe(false)
  })
})

describe('a target', () => {
  test('is met at its bound', () => {
    expect(meets(0.5, '>= 0.5')).toBe(true)
    expect(meets(3, '<= 3')).toBe(true)
    expect(meets(3.01, '<= 3')).toBe(false)
  })

  test('in another form is refused', () => {
    expect(() => meets(1, '> 1')).toThrow('not a target: > 1')
  })
})

test('a figure is selected by its name, by a prefix up to a dot, or together with all others', () => {
  expect(isWanted('ingest.lost.redis', null)).toBe(true)
  expect(isWanted('ingest.lost.redis', ['ingest.lost.redis'])).toBe(true)
  expect(isWanted('ingest.lost.redis', ['await', 'ingest'])).toBe(true)
  expect(isWanted('ingest.lost.redis', ['ingest.lo', 'await'])).toBe(false)
})
