import { formatFigure, toFigure } from '@heddle/test-support/figure'
import { figuresOf } from './figures.js'
import { fuzzContents, type ShapeSelection, selectShapes } from './index.js'
import { ResultsFile } from './results-file.js'
import type { ShapeRow } from './shape-row.js'
import { tableHead, tableRow } from './table.js'

export interface ContentsArguments extends ShapeSelection {
  readonly sizes: readonly number[]
  readonly profilesFolder: string | null
  /** File with the rows of earlier runs, to which those of this run are added; null for no file. */
  readonly resultsPath: string | null
  readonly json: boolean
}

export const contentsOptions = {
  shapes: { type: 'string' },
  sizes: { type: 'string' },
  profiles: { type: 'string' },
  results: { type: 'string' },
  part: { type: 'string' },
  json: { type: 'boolean' },
} as const

/** @throws Error that names the invalid argument */
export function readContentsArguments(
  values: Readonly<{ [Name in keyof typeof contentsOptions]?: string | boolean }>,
): ContentsArguments {
  const text = (name: keyof typeof contentsOptions) => (typeof values[name] === 'string' ? values[name] : null)
  const sizes = (text('sizes') ?? '1,2,4,8').split(',').map(Number)
  if (!sizes.every((size) => size > 0)) throw new Error('--sizes must be numbers of megabytes, such as 1,2')
  const [number = 0, of = 0] = (text('part') ?? '1/1').split('/').map(Number)
  if (!(Number.isInteger(number) && Number.isInteger(of) && number >= 1 && number <= of))
    throw new Error('--part must be a number and how many parts there are, such as 2/4')
  return {
    shapes: text('shapes')?.split(',') ?? null,
    part: { number, of },
    sizes,
    profilesFolder: text('profiles'),
    resultsPath: text('results'),
    json: values.json === true,
  }
}

/** Prints the rows and the verdict on them, with the rows of earlier runs where they are in a file. Returns whether all pass. */
export async function runContents(
  given: ContentsArguments,
  { say, print }: { say: (line: string) => void; print: (line: string) => void },
): Promise<boolean> {
  const selected = selectShapes(given)
  const { resultsPath, sizes, json } = given
  const results = resultsPath === null ? null : await ResultsFile.open(resultsPath, sizes)
  const measured: ShapeRow[] = []
  const printRow = (row: ShapeRow) => print(json ? JSON.stringify(row) : tableRow(row))
  if (!json) print(tableHead(sizes))
  const names = selected.filter((name) => results?.isDone(name) !== true)
  if (names.length < selected.length) say(`${selected.length - names.length} of ${selected.length} shapes are done`)
  await fuzzContents({
    ...given,
    names,
    say,
    async onShape(row) {
      measured.push(row)
      await results?.add(row)
      printRow(row)
    },
  })
  const rows = results?.rows ?? measured
  if (rows.length > measured.length) {
    if (!json) print(`\n${tableHead(sizes)}`)
    rows.forEach(printRow)
  }
  const figures = figuresOf(rows).map(toFigure)
  for (const figure of figures) print(formatFigure(figure))
  return figures.every(({ pass }) => pass !== false)
}
