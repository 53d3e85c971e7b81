import { readFile } from 'node:fs/promises'
import { stageNames, stages } from '@heddle/contracts'
import { expect, test } from 'vitest'
import { chartPage, chartPagePath, leavesOf, readChart, undescribed } from './chart/values-page.js'

test('the README of the chart agrees with its values and their schema; npm run docs:chart writes it', async () => {
  expect(await readFile(chartPagePath, 'utf8')).toBe(chartPage())
})

test('every value has a default and a description', () => {
  const { schema, values } = readChart()
  const leaves = leavesOf(schema, values)
  expect(leaves.length).toBeGreaterThan(100)
  expect(leaves.filter(({ value }) => value === undefined).map(({ path }) => path)).toEqual([])
  expect(leaves.filter(({ schema: { description } }) => description === undefined).map(({ path }) => path)).toEqual([])
  expect(undescribed(schema, values)).toEqual([])
})

test('the chart has the stages of the catalog', () => {
  const { values } = readChart()
  const { stages: charted } = values as { stages: Record<string, { autoscaling: { boundSeconds: number } }> }
  expect(Object.keys(charted)).toEqual([...stageNames])
  expect(Object.keys(stages)).toEqual(Object.keys(charted))
})
