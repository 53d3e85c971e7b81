import { mcpTools } from '@heddle/contracts'
import { expect, test } from 'vitest'
import { listedTool } from './listing.js'
import { tools } from './tools.js'

/** Largest list of tools, in characters; it is part of each request to a model. */
const CHARACTERS_MAX = 28_500

interface Field {
  readonly [key: string]: unknown
  readonly description?: string
  readonly properties?: Readonly<Record<string, Field>>
  readonly items?: Field
  readonly anyOf?: readonly Field[]
}

function* fieldsOf(schema: Field, path: string): Generator<{ path: string; field: Field }> {
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    yield { path: `${path}.${name}`, field }
    yield* fieldsOf(field, `${path}.${name}`)
  }
  for (const inner of [schema.items, ...(schema.anyOf ?? [])]) if (inner !== undefined) yield* fieldsOf(inner, path)
}

const fields = tools.flatMap((tool) => {
  const { inputSchema, outputSchema } = listedTool(tool)
  const taken = [...fieldsOf(inputSchema, `${tool.name} takes `)]
  return [...taken, ...fieldsOf(outputSchema, `${tool.name} gives `)]
})

test('the list of tools is short enough for each request to a model', () => {
  expect(JSON.stringify({ tools: tools.map(listedTool) }).length).toBeLessThanOrEqual(CHARACTERS_MAX)
})

test('every field of every tool is described in a few words', () => {
  expect(fields.length).toBeGreaterThan(100)
  expect(fields.filter(({ field }) => field.description === undefined).map(({ path }) => path)).toEqual([])
  const long = fields.filter(({ field }) => (field.description ?? '').length > 140)
  expect(long.map(({ path }) => path)).toEqual([])
})

test('every input field of a tool is listed, and required ones are marked', () => {
  for (const tool of tools) {
    const { inputSchema } = listedTool(tool)
    const { shape } = mcpTools[tool.name].input
    expect(Object.keys(inputSchema['properties'] ?? {}).sort(), tool.name).toEqual(Object.keys(shape).sort())
    const needed = Object.entries(shape).filter(([, field]) => !field.safeParse(undefined).success)
    expect(inputSchema['required'] ?? [], tool.name).toEqual(needed.map(([name]) => name))
  }
})
