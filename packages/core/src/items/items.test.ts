import { includeModes, itemTypes, mergeSettings, selectionPresets } from '@heddle/contracts'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { calibratedScore, scoreAnchors } from '../search/calibration.js'
import { compareItems, effectiveInclude, type Item } from './item.js'
import { requestItem, selectedItems, shareForThread } from './request-items.js'
import { type Candidate, fitSelection, selectByType, selectItems } from './selection.js'

const { normal } = selectionPresets

let ids = 0
function item(fields: Partial<Item> = {}): Item {
  const itemId = fields.itemId ?? `item-${++ids}`
  return {
    itemId,
    version: 1,
    type: 'rule',
    name: itemId,
    serverName: '',
    description: null,
    include: 'agent',
    serverInclude: null,
    priorityLevel: null,
    ...fields,
  }
}

const candidate = (name: string, ...chunkScores: number[]): Candidate => ({
  item: item({ name, itemId: name }),
  chunkScores,
})
const names = (scored: readonly { item: Item }[]) => scored.map((each) => each.item.name)

describe('the mode of an item', () => {
  const mode = (fields: Partial<Item>) => effectiveInclude(item({ type: 'tool', include: null, ...fields }))

  test('of a tool is its own mode if it has one', () => {
    expect(mode({ include: 'manual', serverInclude: 'agent' })).toBe('manual')
  })

  test('of a tool without a mode is that of its server', () => {
    expect(mode({ serverInclude: 'agent' })).toBe('agent')
  })

  test('is always if neither the tool nor its server has a mode', () => {
    expect(mode({})).toBe('always')
    expect(mode({ type: 'rule' })).toBe('always')
  })

  test('of a rule or a reference does not depend on any server', () => {
    expect(mode({ type: 'rule', serverInclude: 'agent' })).toBe('always')
  })
})

describe('the items of a thread', () => {
  const always = item({ name: 'a', itemId: 'a', include: 'always' })
  const manual = item({ name: 'b', itemId: 'b', include: 'manual' })
  const agent = item({ name: 'c', itemId: 'c', include: 'agent' })

  test('are all included; other items may be selected if their mode is agent', () => {
    const { included, candidates } = shareForThread(
      [agent, manual, always],
      [
        { itemId: 'a', includeMode: 'always' },
        { itemId: 'b', includeMode: 'manual' },
      ],
    )
    expect(included).toEqual([
      { item: always, includeMode: 'always' },
      { item: manual, includeMode: 'manual' },
    ])
    expect(candidates).toEqual([agent])
  })

  test('that were added by hand are included in any mode, and are not selected a second time', () => {
    const { included, candidates } = shareForThread([agent], [{ itemId: 'c', includeMode: 'manual' }])
    expect(included.map(requestItem)).toEqual([{ type: 'rule', name: 'c', includeMode: 'manual' }])
    expect(candidates).toEqual([])
  })

  test('that were removed by hand are excluded in any mode', () => {
    expect(shareForThread([always, manual], [])).toEqual({ included: [], candidates: [] })
  })

  test('that the agent no longer has are skipped', () => {
    expect(shareForThread([], [{ itemId: 'a', includeMode: 'always' }])).toEqual({ included: [], candidates: [] })
  })
})

describe('grouping', () => {
  test('gives an item the score of its best chunk, once', () => {
    const { selected } = selectItems([candidate('x', 0.3, 0.9, 0.5)], normal)
    expect(selected).toMatchObject([{ item: { name: 'x' }, score: 0.9 }])
  })

  test('distinguishes tools of two servers with one name', () => {
    const tool = (serverName: string) => ({
      item: item({ type: 'tool', name: 'read', serverName, itemId: serverName }),
      chunkScores: [0.8],
    })
    const { selected } = selectItems([tool('files'), tool('web')], normal)
    expect(selected.map(({ item: { serverName } }) => serverName)).toEqual(['files', 'web'])
  })

  test('considers only the topK nearest chunks, so an item with many of them displaces others', () => {
    const { selected, leftOut } = selectItems([candidate('long', 0.9, 0.9, 0.8), candidate('short', 0.75)], {
      ...normal,
      topK: 3,
    })
    expect(names(selected)).toEqual(['long'])
    expect(leftOut).toMatchObject(
      [{ item: { name: 'short' }, score: 0.75, reason: /nearest 3/ }].map(({ reason, ...rest }) => ({
        ...rest,
        reason: expect.stringMatching(reason),
      })),
    )
  })
})

describe('thresholds', () => {
  test('include at most topN items that are below includeScore', () => {
    const { selected } = selectItems(
      'abcdefgh'.split('').map((name, at) => candidate(name, 0.6 - at / 100)),
      normal,
    )
    expect(names(selected)).toEqual(['a', 'b', 'c', 'd', 'e'])
  })

  test('include every item that reaches includeScore, also beyond topN', () => {
    const items = 'abcdefgh'.split('').map((name) => candidate(name, 0.7))
    expect(names(selectItems(items, normal).selected)).toEqual('abcdefgh'.split(''))
  })

  test('count items that reach includeScore among the topN', () => {
    const items = [0.9, 0.8, 0.75, 0.5, 0.4, 0.3].map((score) => candidate(`s${score}`, score))
    expect(names(selectItems(items, normal).selected)).toEqual(['s0.9', 's0.8', 's0.75', 's0.5', 's0.4'])
  })

  test('include nothing that is below minScore, even if topN is not reached', () => {
    const { selected, leftOut } = selectItems([candidate('near', 0.21), candidate('far', 0.19)], normal)
    expect(names(selected)).toEqual(['near'])
    expect(leftOut).toMatchObject([{ item: { name: 'far' }, score: 0.19 }])
    expect(leftOut[0]?.reason).toMatch('below 0.2')
  })

  test('with topN 0 include only items that reach includeScore', () => {
    expect(names(selectItems([candidate('a', 0.7), candidate('b', 0.69)], { ...normal, topN: 0 }).selected)).toEqual([
      'a',
    ])
  })
})

describe('sorting', () => {
  test('puts the best score first, and equal scores in the order of the items', () => {
    const { selected } = selectItems([candidate('b', 0.5), candidate('c', 0.8), candidate('a', 0.5)], normal)
    expect(names(selected)).toEqual(['c', 'a', 'b'])
  })

  test('of rules and references goes by priority level, then by name, those without a level last', () => {
    const rules = [
      ['z', 1],
      ['b', 2],
      ['a', 2],
      ['c', null],
    ] as const
    const sorted = rules
      .map(([name, priorityLevel]) => item({ name, priorityLevel }))
      .reverse()
      .sort(compareItems)
    expect(sorted.map(({ name }) => name)).toEqual(['z', 'a', 'b', 'c'])
  })

  test('of tools goes by server, then by name', () => {
    const tools = [
      ['files', 'b'],
      ['files', 'c'],
      ['web', 'a'],
    ] as const
    const sorted = tools
      .map(([serverName, name]) => item({ type: 'tool', serverName, name }))
      .reverse()
      .sort(compareItems)
    expect(sorted.map(({ serverName, name }) => `${serverName}.${name}`)).toEqual(['files.b', 'files.c', 'web.a'])
  })

  test('puts the best of the selected items first', () => {
    const selection = selectItems([candidate('b', 0.9), candidate('a', 0.8)], normal)
    expect(selectedItems(selection).map(requestItem)).toEqual([
      { type: 'rule', name: 'b', includeMode: 'agent', similarityScore: 0.9 },
      { type: 'rule', name: 'a', includeMode: 'agent', similarityScore: 0.8 },
    ])
  })
})

describe('every selection', () => {
  const limits = fc.record({
    topK: fc.integer({ min: 1, max: 30 }),
    topN: fc.nat({ max: 10 }),
    includeScore: fc.double({ min: 0, max: 1, noNaN: true }),
    minScore: fc.double({ min: 0, max: 1, noNaN: true }),
  })
  const candidates = fc
    .array(fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 5 }), { maxLength: 20 })
    .map((all) => all.map((scores, at) => candidate(`item ${at}`, ...scores)))

  test('accounts for each item once, respects its limits, and does not depend on the order of the items', () => {
    fc.assert(
      fc.property(candidates, limits, fc.infiniteStream(fc.nat()), (all, given, keys) => {
        const selection = selectItems(all, given)
        const { selected, leftOut } = selection
        expect([...names(selected), ...names(leftOut)].sort()).toEqual(names(all).sort())
        expect(selected.filter(({ score }) => score < given.includeScore).length).toBeLessThanOrEqual(given.topN)
        expect(selected.length).toBeLessThanOrEqual(given.topK)
        for (const { score } of selected) expect(score).toBeGreaterThanOrEqual(given.minScore)
        const shuffled = [...all].map((each) => ({ each, key: keys.next().value })).sort((a, b) => a.key - b.key)
        expect(
          selectItems(
            shuffled.map(({ each }) => each),
            given,
          ),
        ).toEqual(selection)
      }),
    )
  })

  test('with a lower includeScore or a higher topN includes at least the same items', () => {
    fc.assert(
      fc.property(candidates, limits, (all, given) => {
        const more = { ...given, topN: given.topN + 1, includeScore: given.includeScore / 2 }
        const wider = new Set(names(selectItems(all, more).selected))
        for (const name of names(selectItems(all, given).selected)) expect(wider).toContain(name)
      }),
    )
  })
})

describe('scores', () => {
  const models = [
    'Xenova/all-MiniLM-L6-v2',
    'heddle-hashing-384-v1',
    'text-embedding-3-small',
    'text-embedding-ada-002',
    'x',
  ]

  test('of every model are between 0 and 1 and increase with the cosine', () => {
    const cosine = fc.double({ min: -1.01, max: 1.01, noNaN: true })
    fc.assert(
      fc.property(fc.constantFrom(...models), cosine, cosine, (model, one, other) => {
        const [low, high] = [Math.min(one, other), Math.max(one, other)].map((each) => calibratedScore(model, each))
        expect(low).toBeGreaterThanOrEqual(0)
        expect(high).toBeLessThanOrEqual(1)
        expect(low).toBeLessThanOrEqual(high ?? 0)
      }),
    )
  })

  test('of the model that the thresholds were chosen for are its cosines', () => {
    for (const cosine of [0, 0.2, 0.7, 0.92, 1])
      expect(calibratedScore('Xenova/all-MiniLM-L6-v2', cosine)).toBeCloseTo(cosine)
  })

  test('mean the same for each model: unrelated, surely related, identical', () => {
    for (const model of models) {
      const scores = scoreAnchors(model).map(([cosine]) => calibratedScore(model, cosine))
      expect(scores).toEqual(model.includes('MiniLM') || model === 'x' ? [0, 1] : [0, 0.2, 0.7, 1])
    }
  })
})

describe('settings', () => {
  test('have the default figures unless a preset overrides them', () => {
    expect(mergeSettings().search).toMatchObject({ topK: 20, topN: 5, includeScore: 0.7 })
    expect(mergeSettings({ search: { preset: 'conservative' } }).search).toMatchObject(selectionPresets.conservative)
  })

  test('that are set one by one override the preset of the same layer, but not that of a later one', () => {
    const own = mergeSettings({ search: { preset: 'aggressive', topN: 3 } }).search
    expect(own).toMatchObject({ ...selectionPresets.aggressive, topN: 3 })
    expect(mergeSettings({ search: { topN: 3 } }, { search: { preset: 'normal' } }).search.topN).toBe(5)
  })

  test('select more with each bolder preset', () => {
    const { aggressive, conservative } = selectionPresets
    expect(aggressive.topN).toBeGreaterThan(normal.topN)
    expect(normal.topN).toBeGreaterThan(conservative.topN)
    expect(aggressive.includeScore).toBeLessThan(normal.includeScore)
    expect(normal.includeScore).toBeLessThan(conservative.includeScore)
  })
})

test('every type and mode has its place', () => {
  expect(
    [...itemTypes]
      .map((type) => item({ type }))
      .sort(compareItems)
      .map(({ type }) => type),
  ).toEqual([...itemTypes])
  for (const include of includeModes) expect(effectiveInclude(item({ include }))).toBe(include)
})

describe('parameters of a type', () => {
  const tool = (name: string, score: number): Candidate => ({
    item: item({ type: 'tool', name, itemId: name }),
    chunkScores: [score],
  })

  test('make it a domain of its own, so that many tools displace no rule', () => {
    const tools = ['t1', 't2', 't3', 't4', 't5', 't6'].map((name) => tool(name, 0.6))
    const rule = candidate('rule', 0.5)
    expect(names(selectByType([...tools, rule], normal, {}).selected)).not.toContain('rule')
    const { selected, leftOut } = selectByType([...tools, rule], normal, { tool: { topN: 2 } })
    expect(names(selected)).toEqual(['t1', 't2', 'rule'])
    expect(names(leftOut as never)).toEqual(['t3', 't4', 't5', 't6'])
  })

  test('switch the selection of the type off', () => {
    const { selected, leftOut } = selectByType([tool('t', 0.9), candidate('rule', 0.5)], normal, {
      tool: { enabled: false },
    })
    expect(names(selected)).toEqual(['rule'])
    expect(leftOut).toMatchObject([{ score: null, reason: 'the selection of each tool is off' }])
  })

  test('are merged by layers', () => {
    const merged = mergeSettings(
      { search: { types: { tool: { topN: 2 } } } },
      { search: { types: { tool: { topK: 9 } } } },
    )
    expect(merged.search.types).toEqual({ tool: { topN: 2, topK: 9 } })
  })
})

describe('a selection that fits the budget', () => {
  const fit = (roomTokens: number) => fitSelection(normal, { roomTokens, itemTokens: [50, 100, 150] })

  test('takes as many items of mean size as the budget holds, from one to four times topN, with topK in proportion', () => {
    expect(fit(300)).toMatchObject({ topN: 3, topK: 12 })
    expect(fit(10)).toMatchObject({ topN: 1, topK: 4 })
    expect(fit(1_000_000)).toMatchObject({ topN: 20, topK: 80 })
    expect(fitSelection(normal, { roomTokens: 10, itemTokens: [] })).toEqual(normal)
  })
})
