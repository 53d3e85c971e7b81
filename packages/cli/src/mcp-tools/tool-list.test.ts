import { limits } from '@heddle/contracts'
import { expect, test } from 'vitest'
import { toolListLimits } from './limits.js'
import { type ListedTool, ToolListing } from './tool-list.js'

function listed(...tools: Partial<ListedTool>[]) {
  const listing = new ToolListing()
  for (const tool of tools) listing.add({ name: 'read', inputSchema: { type: 'object' }, ...tool })
  return listing.list()
}

test('a tool keeps its description and its schema unchanged', () => {
  const inputSchema = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] }
  const { tools, notes } = listed({ description: 'Reads a file.', title: 'Read', inputSchema })
  expect(tools).toEqual([{ name: 'read', description: 'Reads a file.', inputSchema }])
  expect(notes).toEqual([])
})

test('the title replaces a missing description', () => {
  const { tools } = listed({ name: 'a', title: 'Read' }, { name: 'b', annotations: { title: 'Write' } }, { name: 'c' })
  expect(tools.map(({ description }) => description)).toEqual(['Read', 'Write', null])
})

test('a description that is too long is cut between characters, with a note', () => {
  const charactersMax = toolListLimits.descriptionCharactersMax
  const { tools, notes } = listed({ description: '🧶'.repeat(charactersMax) })
  const description = tools[0]?.description ?? ''
  expect(description.length).toBeLessThanOrEqual(charactersMax)
  expect(description.endsWith('…')).toBe(true)
  expect(description.isWellFormed()).toBe(true)
  expect(notes).toEqual([`the description of "read" was cut to 10000 of its 20000 characters`])
})

test('characters that Postgres cannot store are removed from a description', () => {
  expect(listed({ description: 'a\0b\ud800' }).tools[0]?.description).toBe('ab\ufffd')
})

test.for(['', ' x', 'a\nb', 'x'.repeat(limits.nameCharactersMax + 1), '\ud800'])(
  'a tool whose name %j cannot be kept is left out with a note: cut, it would name no tool',
  (name) => {
    const { tools, notes } = listed({ name }, { name: 'other' })
    expect(tools.map((tool) => tool.name)).toEqual(['other'])
    expect(notes).toEqual([expect.stringMatching(/^tool 1 of the list was left out: its name must/)])
  },
)

const deep = JSON.parse(`${'{"a":'.repeat(200)}1${'}'.repeat(200)}`)
test.for([
  { what: 'two tools of one name', tools: [{}, {}], code: 'VALIDATION_ERROR' },
  { what: 'a schema that is too deep', tools: [{ inputSchema: deep }], code: 'VALIDATION_ERROR' },
  { what: 'a schema with a NUL', tools: [{ inputSchema: { type: 'object', title: '\0' } }], code: 'VALIDATION_ERROR' },
  { what: 'a schema with a lone surrogate', tools: [{ inputSchema: { '\ud800': 1 } }], code: 'VALIDATION_ERROR' },
  { what: 'a huge schema', tools: [{ inputSchema: { title: 'x'.repeat(100_000) } }], code: 'PAYLOAD_TOO_LARGE' },
  {
    what: 'too many tools',
    tools: Array.from({ length: limits.toolsPerServerMax + 1 }, (_, index) => ({ name: `${index}` })),
    code: 'PAYLOAD_TOO_LARGE',
  },
  {
    what: 'schemas that are too large together',
    tools: Array.from({ length: 150 }, (_, index) => ({
      name: `${index}`,
      inputSchema: { title: 'x'.repeat(90_000) },
    })),
    code: 'PAYLOAD_TOO_LARGE',
  },
])('$what: the list is refused as a whole', ({ tools, code }) => {
  expect(() => listed(...tools)).toThrow(expect.objectContaining({ code }))
})
