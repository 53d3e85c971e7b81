import type { Measured } from '@heddle/test-support/figure'
import { GROWTH_MAX, HEALTH_MS_MAX, isMeasuredBusy, type ShapeRow } from './shape-row.js'

/** The verdict on the rows of all shapes that were measured. */
export function figuresOf(rows: readonly ShapeRow[]): Measured[] {
  const worst = (key: 'healthMs' | 'growth') =>
    rows.reduce((worst, row) => (row[key] > worst[key] ? row : worst), rows[0] as ShapeRow)
  const health = worst('healthMs')
  const growth = worst('growth')
  const failed = rows.filter(({ error }) => error !== null)
  return [
    {
      name: 'contents.healthz',
      value: health.healthMs,
      unit: 'ms',
      target: `<= ${HEALTH_MS_MAX}`,
      note: `the longest answer, with ${health.shape}, ${health.during}; ${rows.filter(({ healthMs }) => healthMs > HEALTH_MS_MAX).length} of ${rows.length} shapes above; a server without work answered in ${health.emptyMs} ms`,
    },
    {
      name: 'contents.growth',
      value: growth.growth,
      unit: 'times',
      target: `<= ${GROWTH_MAX}`,
      note: `time to settle of the largest size to the smallest, with ${growth.shape}; ${rows.filter(({ growth }) => growth > GROWTH_MAX).length} of ${rows.length} shapes above`,
    },
    {
      name: 'contents.failed',
      value: failed.length,
      unit: 'shapes',
      target: '<= 0',
      note: failed
        .map(({ shape, error }) => `${shape}: ${error}`)
        .join('; ')
        .slice(0, 2_000),
    },
    {
      name: 'contents.measured',
      value: rows.length,
      unit: 'shapes',
      note: `${rows.filter(isMeasuredBusy).length} of them while other programs used the processors; commits ${[...new Set(rows.map(({ commit }) => commit))].join(', ')}`,
    },
  ]
}
