import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Item } from './item.js'
import { callNames, toolNames } from './tool-names.js'

const tool = (name: string, serverName = 'files', itemId = `${serverName}/${name}`): Item => ({
  itemId,
  version: 1,
  type: 'tool',
  name,
  serverName,
  description: null,
  include: null,
  serverInclude: null,
  priorityLevel: null,
})
const named = (...tools: Item[]) => [...toolNames(tools).values()]

describe('the name under which a tool is called', () => {
  test('is its own, prefixed with its server if two servers share it', () => {
    expect(named(tool('read'), tool('write'))).toEqual(['read', 'write'])
    expect(named(tool('read'), tool('write'), tool('read', 'web'))).toEqual(['files__read', 'write', 'web__read'])
  })

  test('has only characters that providers accept, and names that become equal by that are made unique', () => {
    expect(named(tool('read file'))).toEqual(['read_file'])
    expect(named(tool('read file'), tool('read.file', 'web'))).toEqual(['files__read_file', 'web__read_file'])
    const [one, other] = named(tool('a.b', 'x'), tool('a/b', 'x'))
    expect(one).toMatch(/^x__a_b_[0-9a-f]{8}$/)
    expect(other).not.toBe(one)
  })

  test('does not exist for a rule or a reference', () => {
    expect(toolNames([{ ...tool('style'), type: 'rule' }]).size).toBe(0)
  })

  test('is unique and has at most 64 characters, whatever the tools are called', () => {
    const text = fc.oneof(
      fc.constantFrom('a', 'a.b', 'a b', 'a_b', 'a__b', 'x'.repeat(70)),
      fc.string({ minLength: 1 }),
    )
    const tools = fc.uniqueArray(fc.tuple(text, text), { selector: ([server, name]) => `${server}\0${name}` })
    fc.assert(
      fc.property(tools, (pairs) => {
        const names = named(...pairs.map(([server, name], at) => tool(name, server, `item-${at}`)))
        expect(new Set(names).size).toBe(names.length)
        for (const name of names) expect(name).toMatch(/^[\w-]{1,64}$/)
      }),
    )
  })

  test('is among the recognized call names, whichever of its tools a context showed', () => {
    const tools = [tool('read'), tool('read', 'web'), tool('x'.repeat(70)), tool('a.b', 'x'), tool('a/b', 'x')]
    const offered = toolNames(tools)
    for (const one of tools) {
      expect(callNames([one]).get(one.itemId)).toContain(offered.get(one.itemId))
      expect(callNames(tools).get(one.itemId)).toContain(offered.get(one.itemId))
    }
  })
})
