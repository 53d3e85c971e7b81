import type { MessageInput } from '@heddle/contracts'

export type JsonObject = NonNullable<MessageInput['metadata']>
export type Json = JsonObject[string]

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The text of a field; undefined if the field is missing, empty or not a text. */
export function textField(record: JsonObject, name: string): string | undefined {
  const value = record[name]
  return typeof value === 'string' && value !== '' ? value : undefined
}

const TEXT_CHARACTERS_MAX = 500

/** A copy in which long texts, such as the bytes of an image, are replaced by a note of their length. */
function compact(value: Json): Json {
  if (typeof value === 'string') {
    return value.length <= TEXT_CHARACTERS_MAX ? value : `${value.slice(0, 40)}… (${value.length} characters)`
  }
  if (Array.isArray(value)) return value.map(compact)
  return isJsonObject(value) ? compactObject(value) : value
}

function compactObject(value: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, compact(field)]))
}

/** The fields that a reader does not know, as metadata; empty ones are left out. */
export function otherFields(record: JsonObject, known: ReadonlySet<string>): JsonObject {
  const others = Object.entries(record).filter(([name, value]) => !known.has(name) && saysSomething(value))
  return compactObject(Object.fromEntries(others))
}

function saysSomething(value: Json): boolean {
  if (value === null || value === '' || value === false) return false
  return typeof value !== 'object' || Object.keys(value).length > 0
}

/** A `metadata` field for a draft, or an empty object without notes. */
export function metadataField(...notes: readonly JsonObject[]): { metadata?: JsonObject } {
  const metadata: JsonObject = Object.assign({}, ...notes)
  return Object.keys(metadata).length > 0 ? { metadata } : {}
}
