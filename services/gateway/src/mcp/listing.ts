import { mcpWords } from '@heddle/contracts'
import { z } from 'zod'
import type { Tool } from './tools.js'

/** A JSON Schema. */
type Schema = Readonly<Record<string, unknown>>
type Words = Readonly<Record<string, string | null>>

/** A tool as `tools/list` shows it. */
export interface ListedTool {
  readonly [field: string]: unknown
  readonly name: string
  readonly title: string
  readonly description: string
  readonly inputSchema: { readonly type: 'object'; readonly [field: string]: unknown }
  readonly outputSchema: { readonly type: 'object'; readonly [field: string]: unknown }
  readonly annotations: Partial<Tool['annotations']>
}

/** The other hints of the protocol do not apply to tools that only read. */
const readingHints = { readOnlyHint: true, openWorldHint: false } as const

/** Hints as the protocol assumes them of a tool. */
const assumedHints: Readonly<Record<string, boolean>> = {
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: false,
}

const listed = new Map<string, ListedTool>()

/**
 * Describes a tool in as few characters as a model needs, because the list of tools is part of each request. Limits that
 * no model reaches are left to the error messages; result fields that a model does not act on are left out.
 */
export function listedTool({ name, title, description, input, output, annotations }: Tool): ListedTool {
  const known = listed.get(name)
  if (known !== undefined) return known
  const words = mcpWords[name]
  const tool: ListedTool = {
    name,
    title,
    description,
    inputSchema: { ...described(jsonSchema(input, 'input'), words.input, '', 'input'), type: 'object' },
    outputSchema: { ...described(jsonSchema(output, 'output'), words.output, '', 'output'), type: 'object' },
    annotations: annotations.readOnlyHint ? readingHints : hintsOf(annotations),
  }
  listed.set(name, tool)
  return tool
}

function hintsOf(annotations: Tool['annotations']): ListedTool['annotations'] {
  return Object.fromEntries(Object.entries(annotations).filter(([hint, value]) => assumedHints[hint] !== value))
}

function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): Schema {
  return z.toJSONSchema(schema, { io, unrepresentable: 'any', reused: 'inline' })
}

/** Larger limits are left out, because no model reaches them. */
const BOUND_MAX = 1_000

/** Adds descriptions to the fields of a schema; a result keeps only the fields that have one. */
function described(schema: Schema, words: Words, path: string, io: 'input' | 'output'): Schema {
  const { properties, items, anyOf, required, ...rest } = schema
  const bounds = Object.entries(rest).filter(([key, value]) => (io === 'input' ? isListed(key, value) : key === 'type'))
  const kept: Record<string, unknown> = Object.fromEntries(bounds)
  if (isSchema(properties)) {
    const fields = fieldsOf(properties, words, path, io)
    if (Object.keys(fields).length > 0) kept['properties'] = fields
    if (io === 'input' && required !== undefined) kept['required'] = required
  }
  if (isSchema(items)) kept['items'] = described(items, words, `${path}[]`, io)
  if (!Array.isArray(anyOf)) return kept
  const forms = anyOf.filter(isSchema).map((form) => described(form, words, path, io))
  // A string with several formats is listed as a string; the description explains the formats.
  const isText = forms.every(({ type }) => type === 'string')
  return isText ? { ...kept, type: 'string' } : { ...kept, ...(merged(forms) ?? { anyOf: forms }) }
}

function fieldsOf(properties: Schema, words: Words, path: string, io: 'input' | 'output'): Schema {
  const fields = Object.entries(properties).flatMap(([name, field]) => {
    const at = path === '' ? name : `${path}.${name}`
    if (!isSchema(field) || words[at] === null || (io === 'output' && words[at] === undefined)) return []
    const schema = described(field, words, at, io)
    return [[name, words[at] === undefined ? schema : { ...schema, description: words[at] }] as const]
  })
  return Object.fromEntries(fields)
}

/** Merges a union of plain types and one schema of another type: its keywords apply to that type alone. */
function merged(forms: readonly Schema[]): Schema | null {
  const types = forms.map(({ type }) => type)
  const detailed = forms.filter((form) => Object.keys(form).length > 1)
  const areDistinct = types.every((type) => typeof type === 'string') && new Set(types).size === types.length
  const isClosed = forms.some((form) => 'enum' in form || 'const' in form)
  return areDistinct && !isClosed && detailed.length <= 1 ? { ...detailed[0], type: types } : null
}

const TELLING = new Set(['type', 'format', 'enum', 'const', 'default', 'minimum', 'maximum', 'description'])

function isListed(key: string, value: unknown): boolean {
  if (!TELLING.has(key)) return false
  if (key === 'minimum') return Number(value) > 1
  if (key === 'default') return value !== false
  // Ids are copied from other results.
  if (key === 'format') return value !== 'uuid'
  return key !== 'maximum' || Number(value) <= BOUND_MAX
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
