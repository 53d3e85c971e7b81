import { mcpWords } from '@heddle/contracts'
import { z } from 'zod'
import type { Tool } from './tools.js'

/** A schema as JSON has it. */
type Schema = Readonly<Record<string, unknown>>
type Words = Readonly<Record<string, string>>

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

/** Of what only reads, the protocol says no more. */
const readingHints = { readOnlyHint: true, openWorldHint: false } as const

const listed = new Map<string, ListedTool>()

/**
 * A tool in as few characters as tell a model what it needs: a list of tools stands in each of its requests. Bounds that no
 * model comes near are left to the answers, and so are fields of results that it does not act on.
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
    annotations: annotations.readOnlyHint ? readingHints : annotations,
  }
  listed.set(name, tool)
  return tool
}

function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): Schema {
  return z.toJSONSchema(schema, { io, unrepresentable: 'any', reused: 'inline' })
}

/** Larger numbers are no bounds that a model comes near. */
const BOUND_MAX = 1_000

/** The schema with words at its fields; of a result only the fields that have some. */
function described(schema: Schema, words: Words, path: string, io: 'input' | 'output'): Schema {
  const { properties, items, anyOf, required, ...rest } = schema
  const bounds = Object.entries(rest).filter(([key, value]) =>
    io === 'input' ? isTelling(key, value) : key === 'type',
  )
  const kept: Record<string, unknown> = Object.fromEntries(bounds)
  if (isSchema(properties)) {
    kept['properties'] = fieldsOf(properties, words, path, io)
    if (io === 'input' && required !== undefined) kept['required'] = required
  }
  if (isSchema(items)) kept['items'] = described(items, words, `${path}[]`, io)
  if (!Array.isArray(anyOf)) return kept
  const forms = anyOf.filter(isSchema).map((form) => described(form, words, path, io))
  // Texts of several forms are texts; what the forms are is in the words.
  const isText = forms.every(({ type }) => type === 'string')
  return isText ? { ...kept, type: 'string' } : { ...kept, ...(nullable(forms) ?? { anyOf: forms }) }
}

function fieldsOf(properties: Schema, words: Words, path: string, io: 'input' | 'output'): Schema {
  const fields = Object.entries(properties).flatMap(([name, field]) => {
    const at = path === '' ? name : `${path}.${name}`
    if (!isSchema(field) || (io === 'output' && words[at] === undefined)) return []
    const schema = described(field, words, at, io)
    return [[name, words[at] === undefined ? schema : { ...schema, description: words[at] }] as const]
  })
  return Object.fromEntries(fields)
}

/** One form, or null, in one. */
function nullable(forms: readonly Schema[]): Schema | null {
  const [form, other] = forms
  if (forms.length !== 2 || form === undefined || other?.['type'] !== 'null' || form['type'] === undefined) return null
  return { ...form, type: [form['type'], 'null'] }
}

const TELLING = new Set(['type', 'format', 'enum', 'const', 'default', 'minimum', 'maximum', 'description'])

function isTelling(key: string, value: unknown): boolean {
  if (!TELLING.has(key)) return false
  if (key === 'minimum') return Number(value) > 1
  return key !== 'maximum' || Number(value) <= BOUND_MAX
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
