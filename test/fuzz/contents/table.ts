import { GROWTH_MAX, HEALTH_MS_MAX, type ShapeRow } from './index.js'

const SHAPE_WIDTH = 40
const NUMBER_WIDTH = 8

/** A row of the table; values above their limit are marked. */
export function tableRow(row: ShapeRow): string {
  const mark = row.error !== null || row.healthMs > HEALTH_MS_MAX || row.growth > GROWTH_MAX ? ' !' : '  '
  const numbers = [row.healthMs, row.loopMs, ...Object.values(row.settledMs), row.importedMs, row.growth]
  const cells = numbers.map((number) => String(number).padStart(NUMBER_WIDTH)).join('')
  return `${row.shape.padEnd(SHAPE_WIDTH)}${cells}${mark} ${row.during}; ${row.loopDuring}${row.error === null ? '' : `; ${row.error}`}`
}

export function tableHead(sizes: readonly number[]): string {
  const titles = ['healthz', 'loop', ...sizes.map((size) => `${size} MB`), 'import', 'growth']
  return `${'shape; times in ms'.padEnd(SHAPE_WIDTH)}${titles.map((title) => title.padStart(NUMBER_WIDTH)).join('')}   longest healthz during; longest hold of the loop during`
}
