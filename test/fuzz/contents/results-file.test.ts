import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { ResultsFile } from './results-file.js'
import type { ShapeRow } from './shape-row.js'

async function newPath(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'heddle-results-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  return join(folder, 'results.ndjson')
}

function rowOf(shape: string, given: Partial<ShapeRow> = {}): ShapeRow {
  const longest = { healthMs: 20, during: 'settle 8 MB', emptyMs: 4, loopMs: 10, loopDuring: 'settle 8 MB' }
  const times = { settledMs: { 1: 500, 8: 4_000 }, importedMs: 4_000, growth: 8, tookMs: 9_000 }
  return { shape, ...longest, ...times, waits: [], error: null, othersShare: 0, commit: 'abc', ...given }
}

test('a second run has the rows of the first, and measures only the other shapes', async () => {
  const path = await newPath()
  const first = await ResultsFile.open(path, [1, 8])
  expect(first.isDone('hex')).toBe(false)
  await first.add(rowOf('hex'))
  const second = await ResultsFile.open(path, [1, 8])
  expect(second.rows).toEqual([rowOf('hex')])
  expect([second.isDone('hex'), second.isDone('thai')]).toEqual([true, false])
})

test('a row above a limit is measured again if the machine was busy, and the later row counts', async () => {
  const results = await ResultsFile.open(await newPath(), [1, 8])
  await results.add(rowOf('slow', { healthMs: 400 }))
  await results.add(rowOf('busy', { healthMs: 400, othersShare: 0.5 }))
  await results.add(rowOf('good', { othersShare: 0.5 }))
  expect(['slow', 'busy', 'good'].map((shape) => results.isDone(shape))).toEqual([true, false, true])
  await results.add(rowOf('busy', { healthMs: 90 }))
  expect(results.isDone('busy')).toBe(true)
  expect(results.rows.map(({ shape, healthMs }) => [shape, healthMs])).toContainEqual(['busy', 90])
})

test('rows of other sizes are not counted', async () => {
  const path = await newPath()
  await (await ResultsFile.open(path, [1, 8])).add(rowOf('hex'))
  expect((await ResultsFile.open(path, [1, 2, 4, 8])).rows).toEqual([])
  expect((await ResultsFile.open(path, [8])).rows).toHaveLength(1)
})

test('a line that a killed run left incomplete is removed; any other line that is no row is refused', async () => {
  const path = await newPath()
  await (await ResultsFile.open(path, [1])).add(rowOf('hex'))
  await appendFile(path, '{"shape":"tha')
  await (await ResultsFile.open(path, [1])).add(rowOf('nul'))
  expect((await readFile(path, 'utf8')).trim().split('\n')).toHaveLength(2)
  await writeFile(path, '{"shape":"thai"}\n')
  await expect(ResultsFile.open(path, [1])).rejects.toThrow(/line 1 of .* is not a row/)
})
