import type { JsonObject } from '@heddle/contracts'

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** An empty object if the field is missing or something else. */
export function objectField(value: JsonObject, name: string): JsonObject {
  const field = value[name]
  return isObject(field) ? field : {}
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
