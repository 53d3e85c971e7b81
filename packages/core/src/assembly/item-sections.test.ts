import { mergeSettings } from '@heddle/contracts'
import { describe, expect, test } from 'vitest'
import type { ContextItems, FullItem, IncludedItem } from '../items/index.js'
import { toolNames } from '../items/tool-names.js'
import type { BuildInput } from './input.js'
import { itemSections } from './item-sections.js'

let made = 0
function included(
  fields: Partial<FullItem>,
  includeMode: IncludedItem['includeMode'] = 'always',
): IncludedItem<FullItem> {
  const itemId = `item-${++made}`
  const item: FullItem = {
    itemId,
    version: 1,
    type: 'rule',
    name: itemId,
    serverName: '',
    description: null,
    include: null,
    serverInclude: null,
    priorityLevel: null,
    text: '',
    inputSchema: null,
    ...fields,
  }
  return { item, includeMode }
}

/** Each character counts as one token. */
function input(held: readonly IncludedItem<FullItem>[], selected: readonly IncludedItem<FullItem>[], settings = {}) {
  const all = [...held, ...selected].map(({ item }) => item)
  const items: ContextItems = {
    held,
    selected,
    leftOut: [],
    outsideScope: 0,
    selection: null,
    toolNames: toolNames(all),
  }
  const count = (text: string) => text.length
  return { items, settings: mergeSettings(settings), format: 'neutral', count } as unknown as BuildInput
}

const names = (sections: readonly { name: string }[]) => sections.map(({ name }) => name)
const texts = (sections: ReturnType<typeof itemSections>['held']) =>
  sections.flatMap(({ messages }) => messages.map(({ content }) => content))

describe('item sections', () => {
  test('are empty without items', () => {
    const { items: _, ...without } = input([], [])
    expect(itemSections(without as BuildInput)).toEqual({ held: [], selected: [] })
    expect(itemSections(input([], []))).toEqual({ held: [], selected: [] })
  })

  test("group the thread's rules, references and tools, each under its heading, and leave out empty groups", () => {
    const rule = included({ text: 'Be brief.' })
    const reference = included({ type: 'reference', text: 'Version 2.' }, 'manual')
    const tool = included({ type: 'tool', name: 'read', serverName: 'files' })
    const { held, selected } = itemSections(input([tool, reference, rule], []))
    expect(names(held)).toEqual(['rules', 'references', 'tools'])
    expect(texts(held)).toEqual(['Rule: Be brief.', 'Reference: Version 2.'])
    expect(held[2]).toMatchObject({ messages: [], tools: [{ item: tool, rendered: { name: 'read' } }] })
    expect(selected).toEqual([])
    expect(names(itemSections(input([reference], [])).held)).toEqual(['references'])
  })

  test('say the description of an item without a text, or its name', () => {
    const described = included({ text: ' ', description: 'Answer in French.' })
    const named = included({ type: 'reference', name: 'glossary', text: '', description: '' })
    expect(texts(itemSections(input([described, named], [])).held)).toEqual([
      'Rule: Answer in French.',
      'Reference: glossary',
    ])
  })

  test('put selected items into one optional section, the best first', () => {
    const [best, second] = [included({ text: 'one' }, 'agent'), included({ type: 'reference', text: 'two' }, 'agent')]
    const { held, selected } = itemSections(input([], [best, second]))
    expect(held).toEqual([])
    expect(selected).toMatchObject([{ name: 'selected', isOptional: true, items: [best, second] }])
    expect(texts(selected)).toEqual(['Rule: one', 'Reference: two'])
  })

  test('skip a selected item that does not fit, and use the next one that does', () => {
    const long = included({ text: 'x'.repeat(500) }, 'agent')
    const tool = included({ type: 'tool', name: 'x'.repeat(60), description: 'y'.repeat(500) }, 'agent')
    const short = included({ text: 'short' }, 'agent')
    const within = (selected: number) =>
      itemSections(input([], [long, tool, short], { sections: { allocations: { selected } } }))
    expect(texts(within(100).selected)).toEqual(['Rule: short'])
    expect(within(100).selected[0]?.tools).toEqual([])
    expect(within(2_000).selected).toMatchObject([{ items: [long, short], tools: [{ item: tool }] }])
    expect(within(1).selected).toEqual([])
  })

  test('limit selected items to a quarter of the budget if there is no allocation', () => {
    const half = included({ text: 'x'.repeat(300) }, 'agent')
    expect(itemSections(input([], [half], { budget: 2_000 })).selected).toHaveLength(1)
    expect(itemSections(input([], [half], { budget: 1_000 })).selected).toEqual([])
  })
})
