import { isMeasuredBusy, isWithinLimits, type ShapeRow } from './shape-row.js'

const SHAPE_WIDTH = 40
const NUMBER_WIDTH = 8

/** A row of the table; values above their limit are marked `!`, and rows beside other load on the machine `*`. */
export function tableRow(row: ShapeRow): string {
  const marks = `${isMeasuredBusy(row) ? '*' : ' '}${isWithinLimits(row) ? ' ' : '!'}`
  const seconds = Math.round(row.tookMs / 1_000)
  const numbers = [
    row.healthMs,
    row.emptyMs,
    row.loopMs,
    ...Object.values(row.settledMs),
    row.importedMs,
    row.growth,
    seconds,
  ]
  const cells = numbers.map((number) => String(number).padStart(NUMBER_WIDTH)).join('')
  return `${row.shape.padEnd(SHAPE_WIDTH)}${cells}${marks} ${row.during}; ${row.loopDuring}${row.error === null ? '' : `; ${row.error}`}`
}

export function tableHead(sizes: readonly number[]): string {
  const titles = ['healthz', 'empty', 'loop', ...sizes.map((size) => `${size} MB`), 'import', 'growth', 'row in s']
  return `${'shape; times in ms'.padEnd(SHAPE_WIDTH)}${titles.map((title) => title.padStart(NUMBER_WIDTH)).join('')}   longest healthz during; longest hold of the loop during`
}
