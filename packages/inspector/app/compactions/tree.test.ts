import type { SummaryNode } from '@heddle/contracts'
import { expect, test } from 'vitest'
import { nameOf, partsBySummary } from './tree.js'

const node = (id: string, parent: string | null): SummaryNode => ({
  id,
  kind: 'part',
  parent,
  children: [],
  summary: null,
  summarizer: null,
  from: null,
  to: null,
})

test('summaries are grouped by the one that they are a part of, in their order, also when pages are missing', () => {
  const parts = partsBySummary([node('all', null), node('b', 'all'), node('b1', 'b'), node('a', 'all')])
  expect([...parts].map(([parent, nodes]) => [parent, nodes.map(({ id }) => id)])).toEqual([
    [null, ['all']],
    ['all', ['b', 'a']],
    ['b', ['b1']],
  ])
})

test('a summary is named by its kind and its range', () => {
  const place = (seq: number) => ({ messageId: 'id', seq, reference: 'msg-1', at: '2026-01-01T00:00:00.000Z' })
  expect(nameOf({ kind: 'leaf', from: place(3), to: place(9) })).toBe('Summary of messages #3 to #9')
  expect(nameOf({ kind: 'leaf', from: place(3), to: place(3) })).toBe('Summary of messages #3')
  expect(nameOf({ kind: 'whole', from: null, to: null })).toBe('Whole summary')
})
