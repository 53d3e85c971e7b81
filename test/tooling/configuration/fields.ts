import { z } from 'zod'

/** One value that somebody may configure. */
export interface Field {
  readonly path: string
  readonly type: string
  readonly bounds: string
}

interface JsonSchema {
  readonly type?: string
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly JsonSchema[]
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly items?: JsonSchema
  readonly minimum?: number
  readonly maximum?: number
  readonly exclusiveMinimum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly maxItems?: number
}

/** The fields of a schema in its order, those of its parts by their paths: `prune.keepLastN`. */
export function fieldsOf(schema: z.ZodType): Field[] {
  return walk(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonSchema, [])
}

function walk(schema: JsonSchema, path: readonly string[]): Field[] {
  const { properties } = schema
  if (properties !== undefined) return Object.entries(properties).flatMap(([name, each]) => walk(each, [...path, name]))
  return [{ path: path.join('.'), type: typeOf(schema), bounds: boundsOf(schema) }]
}

function typeOf({ type, enum: words, anyOf, items }: JsonSchema): string {
  if (words !== undefined) return words.map((word) => `\`${word}\``).join(', ')
  if (anyOf !== undefined) return [...new Set(anyOf.map(typeOf))].join(' or ')
  if (type === 'array') return items?.type === undefined ? 'list' : `list of ${typeOf(items)}s`
  return (
    { integer: 'whole number', boolean: '`true` or `false`', string: 'text', null: '`null`' }[type ?? ''] ??
    type ??
    'text'
  )
}

function boundsOf({ minimum, maximum, exclusiveMinimum, minLength, maxLength, maxItems, anyOf }: JsonSchema): string {
  if (anyOf !== undefined) return anyOf.map(boundsOf).find((bounds) => bounds !== '') ?? ''
  const least = exclusiveMinimum !== undefined ? `more than ${number(exclusiveMinimum)}` : known(minimum)
  const most = known(maximum)
  if (least !== '' && most !== '') return `${least} to ${most}`
  if (least !== '') return exclusiveMinimum !== undefined ? least : `${least} or more`
  if (most !== '') return `up to ${most}`
  if (maxLength !== undefined) return `${minLength ?? 0} to ${number(maxLength)} characters`
  return maxItems === undefined ? '' : `up to ${maxItems} entries`
}

/** Empty for the limits of exact integers in JavaScript, which every number without its own limits has. */
function known(bound: number | undefined): string {
  return bound === undefined || Math.abs(bound) === Number.MAX_SAFE_INTEGER ? '' : number(bound)
}

function number(value: number): string {
  return value.toLocaleString('en-US')
}
