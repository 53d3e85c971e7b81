import type { AgentItem } from '@heddle/contracts'
import { expect, test } from 'vitest'
import { badgeOf, columnsOf } from './columns.js'

const always = 'always' as const
const detailsOf = (type: 'rule' | 'reference', name: string, priorityLevel: number | null) =>
  ({ type, name, priorityLevel, description: null }) as AgentItem

test('rules and references are sorted by priority and then name, and those without a priority come last', () => {
  const items = ['d', 'c', 'b', 'a'].map((name) => ({ type: 'rule' as const, name, includeMode: always }))
  const details = [
    detailsOf('rule', 'c', 2),
    detailsOf('rule', 'd', 1),
    detailsOf('rule', 'a', 2),
    detailsOf('rule', 'b', null),
  ]
  expect(columnsOf(items, details).rule.map(({ name }) => name)).toEqual(['d', 'a', 'c', 'b'])
})

test('tools are sorted by server and then name, and a removed item has no details', () => {
  const tool = (serverName: string, name: string) => ({ type: 'tool' as const, name, serverName, includeMode: always })
  const { tool: tools, rule } = columnsOf([tool('files', 'b'), tool('database', 'z'), tool('files', 'a')], [])
  expect(tools.map(({ serverName, name }) => `${serverName}.${name}`)).toEqual(['database.z', 'files.a', 'files.b'])
  expect([tools[0]?.details, rule]).toEqual([undefined, []])
})

test('a badge names the mode, and the score with two decimals', () => {
  expect(badgeOf({ type: 'rule', name: 'a', includeMode: 'manual' })).toBe('Manual')
  expect(badgeOf({ type: 'rule', name: 'a', includeMode: 'agent', similarityScore: 0.8749 })).toBe('Agent - 0.87')
})
