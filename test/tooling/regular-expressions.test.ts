import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { analyse } from 'scslre'
import { expect, test } from 'vitest'
import { type Bounded, bounded, putTogether } from './regular-expressions/bounded.js'
import { type Collected, collectExpressions, type Expression } from './regular-expressions/collect.js'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** Sources, by their paths from the root; regular expressions in tests can do no harm. */
function sourceFiles(): string[] {
  return ['packages', 'services'].flatMap((folder) =>
    readdirSync(`${root}${folder}`, { recursive: true, encoding: 'utf8' })
      .map((path) => `${folder}/${path}`)
      .filter((path) => /^[^/]+\/[^/]+\/src\/.*(?<!\.test|\.d)\.ts$/.test(path)),
  )
}

const collected: readonly Collected[] = sourceFiles().map((file) =>
  collectExpressions(file, readFileSync(root + file, 'utf8')),
)

/** The parts of an expression that can take more than linear time, on contents made for it. */
function superLinear({ source, flags }: Expression): string[] {
  const { reports } = analyse({ source, flags }, { reportTypes: { Move: true, Self: true, Trade: true } })
  return reports.map((report) => {
    const { start, end } = report.type === 'Trade' ? report.startQuant : report.quant
    return `${report.type} at ${source.slice(start, end)}`
  })
}

function isNamed(list: readonly Bounded[], file: string, text: string): boolean {
  return list.some((each) => each.file === file && text.startsWith(each.begins))
}

const found = collected
  .flatMap(({ expressions }) => expressions)
  .map((expression) => ({ ...expression, faults: superLinear(expression) }))
  .filter(({ faults }) => faults.length > 0)

test('every regular expression takes linear time or reads a short text', () => {
  const faults = found
    .filter(({ file, source }) => !isNamed(bounded, file, source))
    .map(({ file, line, source, faults }) => `${file}:${line} /${source}/: ${faults.join(', ')}`)
  expect(faults).toEqual([])
})

test('every regular expression that is composed at run time is listed', () => {
  const unknown = collected
    .flatMap(({ unread }) => unread)
    .filter(({ file, written }) => !isNamed(putTogether, file, written))
    .map(({ file, line, written }) => `${file}:${line} ${written}`)
  expect(unknown).toEqual([])
})

test('every listed exception names an existing expression that is not linear', () => {
  const isThere = ({ file, begins }: Bounded) =>
    found.some((each) => each.file === file && each.source.startsWith(begins))
  const isWritten = ({ file, begins }: Bounded) =>
    collected.some(({ unread }) => unread.some((each) => each.file === file && each.written.startsWith(begins)))
  expect([...bounded.filter((each) => !isThere(each)), ...putTogether.filter((each) => !isWritten(each))]).toEqual([])
})

test.each([
  ['nested repetitions', 'export const a = /^(?:x+)+$/'],
  ['two that may trade', 'export const a = /^\\s*,?\\s*$/'],
  ['one that begins anew at each place', 'export const a = /\\s+$/'],
  ['one that is made of constants', "const SPACE = '\\\\s+'\nexport const a = new RegExp(SPACE + '$', 'g')"],
  ['one in a list', "const WORDS = ['\\\\s+', 'x'].join('|')\nexport const a = new RegExp('(?:' + WORDS + ')$')"],
])('a slow regular expression is reported: %s', (_, text) => {
  const [expression, ...others] = collectExpressions('planted.ts', text).expressions
  expect(others).toEqual([])
  expect(expression && superLinear(expression)).not.toEqual([])
})

test('an unreadable regular expression is reported', () => {
  const { unread } = collectExpressions('planted.ts', 'export const of = (word: string) => new RegExp(word)')
  expect(unread).toEqual([{ file: 'planted.ts', line: 1, written: 'new RegExp(word)' }])
})
