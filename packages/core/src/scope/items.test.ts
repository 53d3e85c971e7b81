import { expect, test } from 'vitest'
import { itemsInScope } from './items.js'

const rule = { type: 'rule', name: 'tone', serverName: '' } as const
const reference = { type: 'reference', name: 'api/v1', serverName: '' } as const
const github = { type: 'tool', name: 'search', serverName: 'github' } as const
const web = { type: 'tool', name: 'search', serverName: 'web' } as const
const items = [rule, reference, github, web]

test('a scope shows all items, no items, or those that it names, tools with or without their server', () => {
  expect(itemsInScope(items, undefined)).toEqual(items)
  expect(itemsInScope(items, true)).toEqual(items)
  expect(itemsInScope(items, false)).toEqual([])
  expect(itemsInScope(items, [])).toEqual([])
  expect(itemsInScope(items, ['rule/tone', 'reference/api/v1'])).toEqual([rule, reference])
  expect(itemsInScope(items, ['tool/search'])).toEqual([github, web])
  expect(itemsInScope(items, ['tool/web.search'])).toEqual([web])
})

test('a name that no item has is an error: a typing error would restrict the context wrongly', () => {
  expect(() => itemsInScope(items, ['rule/tone', 'rule/tune'])).toThrow(
    expect.objectContaining({ code: 'NOT_FOUND', field: 'scope.items', received: 'rule/tune' }),
  )
  expect(() => itemsInScope([], ['rule/tone'])).toThrow(expect.objectContaining({ code: 'NOT_FOUND' }))
})
