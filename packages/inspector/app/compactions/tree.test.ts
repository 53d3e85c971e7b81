import type { SummaryNode } from '@heddle/contracts'
import { expect, test } from 'vitest'
import { loadedSummaries, nameOf } from './tree.js'

const node = (id: string, kind: SummaryNode['kind'], children: string[]): SummaryNode => ({
  id,
  kind,
  parent: null,
  children,
  summary: null,
  summarizer: null,
  lane: null,
  from: null,
  to: null,
})

test('summaries have their parts in order, also shared ones, and lack those of pages that are missing', () => {
  const [own, part, leaf] = [node('own', 'whole', ['b', 'c']), node('b', 'part', ['b1']), node('b1', 'leaf', [])]
  const other = node('other', 'whole', ['b'])
  const { wholes, partsOf } = loadedSummaries([own, part, leaf, other])
  expect(wholes).toEqual([own, other])
  expect([own, part, leaf, other].map((one) => partsOf(one).map(({ id }) => id))).toEqual([['b'], ['b1'], [], ['b']])
})

test('a summary is named by its kind and its range, one of requests also by their limit', () => {
  const place = (seq: number) => ({ messageId: 'id', seq, reference: 'msg-1', at: '2026-01-01T00:00:00.000Z' })
  const lane = { strategy: 'sandwich', limitTokens: 6_000 }
  expect(nameOf({ kind: 'leaf', from: place(3), to: place(9), lane: null })).toBe('Summary of messages #3 to #9')
  expect(nameOf({ kind: 'leaf', from: place(3), to: place(3), lane: null })).toBe('Summary of messages #3')
  expect(nameOf({ kind: 'whole', from: null, to: null, lane: { ...lane, isOwn: true } })).toBe('Whole summary')
  expect(nameOf({ kind: 'whole', from: place(3), to: place(9), lane: { ...lane, isOwn: false } })).toBe(
    'Whole summary #3 to #9, requested in 6,000 tokens',
  )
})
