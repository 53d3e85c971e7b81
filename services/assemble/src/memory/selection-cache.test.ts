import type { ItemRow } from '@heddle/store'
import { expect, test } from 'vitest'
import { SelectionCache } from './selection-cache.js'

const item = (itemId: string, version = 1) => ({ itemId, version }) as ItemRow

test('like queries share a selection, and a changed item, parameter or model makes another one', async () => {
  const cache = new SelectionCache()
  const asked: string[] = []
  const find = (query: string, fields: object = {}) => {
    const given = { projectId: 'p', model: 'm', limits: { topN: 5 }, candidates: [item('a'), item('b')], ...fields }
    return cache.find({ query, ...given }, async (like) => {
      asked.push(like)
      const [first = item('x'), second = item('y')] = given.candidates
      return { selected: [{ item: first, score: 0.9 }], leftOut: [{ item: second, score: 0.1, reason: 'far' }] }
    })
  }
  const first = await find('How do I log in?')
  expect(await find('how do I  log in')).toEqual(first)
  expect(asked).toEqual(['how do i log in'])
  await find('How do I log out?')
  await find('How do I log in?', { candidates: [item('a', 2), item('b')] })
  await find('How do I log in?', { limits: { topN: 4 } })
  await find('How do I log in?', { model: 'n' })
  await find('How do I log in?', { projectId: 'q' })
  expect([cache.madeCount, cache.reusedCount]).toEqual([6, 1])
})

test('the number of selections is bounded', async () => {
  const cache = new SelectionCache()
  const select = async () => ({ selected: [], leftOut: [] })
  const find = (query: string) => cache.find({ projectId: 'p', model: 'm', limits: {}, candidates: [], query }, select)
  for (let number = 0; number <= 500; number++) await find(`query ${number}`)
  await find('query 500')
  await find('query 0')
  expect([cache.madeCount, cache.reusedCount]).toEqual([502, 1])
})

test('a failed selection is not kept', async () => {
  const cache = new SelectionCache()
  const query = { projectId: 'p', model: 'm', limits: {}, candidates: [], query: 'q' }
  await expect(cache.find(query, () => Promise.reject(new Error('no model')))).rejects.toThrow('no model')
  expect(await cache.find(query, async () => ({ selected: [], leftOut: [] }))).toEqual({ selected: [], leftOut: [] })
})
