import type { JsonObject } from '@heddle/contracts'

/** Estimated tokens of an image or a page, whose bytes say nothing of its cost. */
const MEDIA_TOKENS = 1_600
const CHARACTERS_PER_TOKEN = 4
/** Fields that hold bytes as text. */
const BYTES: ReadonlySet<string> = new Set(['data', 'file_data', 'image_url'])
/** Separators and the names of an entry's fields as the provider renders them. */
const ENTRY_TOKENS = 4

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The object in a JSON text; null for anything else. */
export function parseObject(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : null
  } catch {
    return null
  }
}

/** The objects of a list; empty for anything else. */
export function objectsIn(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

export function textIn(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}

/** Estimated tokens of a value as a part of a request: four characters a token, a fixed number for an image. */
export function estimateValueTokens(value: unknown): number {
  let characters = 0
  let media = 0
  const add = (each: unknown, name: string): void => {
    if (typeof each === 'string') {
      if (BYTES.has(name) && each.length > 200) media++
      else characters += each.length
    } else if (Array.isArray(each)) for (const one of each) add(one, name)
    else if (isObject(each)) for (const field of Object.keys(each)) add(each[field], field)
    else characters += 4
  }
  add(value, '')
  return ENTRY_TOKENS + Math.ceil(characters / CHARACTERS_PER_TOKEN) + media * MEDIA_TOKENS
}

export function estimateTextTokens(text: string): number {
  return Math.ceil(text.length / CHARACTERS_PER_TOKEN)
}

/**
 * The canonical text of an entry: without `cache_control`, which clients move from request to request, and with a text in
 * place of a list of one text, since providers render both alike. Arguments of tools are left as they are.
 */
export function canonicalEntry(value: JsonObject): {
  readonly text: string
  readonly cacheMarks: number
  readonly hasHourMark: boolean
} {
  let cacheMarks = 0
  let hasHourMark = false
  const block = (given: JsonObject): JsonObject => {
    const { cache_control: mark, ...rest } = given
    if (mark !== undefined && mark !== null) cacheMarks++
    if (isObject(mark) && mark['ttl'] === '1h') hasHourMark = true
    return Array.isArray(rest['content']) || typeof rest['content'] === 'string'
      ? { ...rest, content: contentOf(rest['content']) }
      : rest
  }
  const contentOf = (content: unknown): JsonObject[string] =>
    Array.isArray(content)
      ? content.map((each) => (isObject(each) ? block(each) : each))
      : [{ type: 'text', text: content as string }]
  return { text: JSON.stringify(block(value)), cacheMarks, hasHourMark }
}
