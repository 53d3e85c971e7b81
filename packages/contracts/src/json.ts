import { z } from 'zod'
import { limits } from './limits.js'

export type JsonValue = z.core.util.JSONType
export type JsonObject = { [key: string]: JsonValue }

/** What {@link copyJson} answers where there is no JSON: no JSON value is a symbol. */
const NO_JSON = Symbol('no JSON')

/**
 * An object of JSON values, copied, so that what its owner does to it afterwards changes nothing.
 *
 * Not `z.json()`: that follows a value into any depth, until the stack ends, and a schema that holds it keeps books on
 * every object that it parses, which takes longer than all else that is done to a message.
 */
export const jsonObjectSchema = z.unknown().transform((value, context): JsonObject => {
  const copy = isPlainObject(value) ? copyJson(value, limits.jsonDepthMax) : NO_JSON
  if (copy !== NO_JSON) return copy as JsonObject
  context.addIssue({
    code: 'custom',
    input: value,
    message: `must be an object of JSON values, at most ${limits.jsonDepthMax} levels deep`,
  })
  return z.NEVER
})

function copyJson(value: unknown, depthMax: number): JsonValue | typeof NO_JSON {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number') return Number.isFinite(value) ? value : NO_JSON
  if (depthMax === 0) return NO_JSON
  if (Array.isArray(value)) return copyArray(value, depthMax - 1)
  return isPlainObject(value) ? copyObject(value, depthMax - 1) : NO_JSON
}

function copyArray(values: readonly unknown[], depthMax: number): JsonValue[] | typeof NO_JSON {
  const copies: JsonValue[] = []
  // By index, so that the holes of a sparse array are met, too.
  for (let index = 0; index < values.length; index++) {
    const copy = copyJson(values[index], depthMax)
    if (copy === NO_JSON) return NO_JSON
    copies.push(copy)
  }
  return copies
}

function copyObject(object: object, depthMax: number): JsonObject | typeof NO_JSON {
  const fields: [string, JsonValue][] = []
  for (const [key, value] of Object.entries(object)) {
    const copy = copyJson(value, depthMax)
    if (copy === NO_JSON) return NO_JSON
    fields.push([key, copy])
  }
  // It defines each field, also one that is named `__proto__`, where an assignment would set the prototype.
  return Object.fromEntries(fields)
}

function isPlainObject(value: unknown): value is object {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype
}
