import { z } from 'zod'
import { limits } from './limits.js'

export type JsonValue = z.core.util.JSONType
export type JsonObject = { [key: string]: JsonValue }

/**
 * An object of JSON values, copied, so that later changes by its owner have no effect.
 *
 * Not `z.json()`, which recurses into any depth, until the stack overflows, and whose containing schemas track every
 * object that they parse, which takes longer than all other work on a message.
 */
export const jsonObjectSchema = z
  .unknown()
  .transform((value, context) => readObject(value, context))
  .meta({ type: 'object' })

/**
 * The same for an object of a provider's package, in the form in which it would be sent: undefined fields are left out,
 * URLs and dates are texts, bytes are base64, and class instances are their fields.
 */
export const sentObjectSchema = z
  .unknown()
  .transform((value, context) => readObject(value, context, true))
  .meta({ type: 'object' })

/**
 * Such an object, or a text. One schema rather than a union: the rules for texts would be tried on the object, and the
 * library mistakes a field named `length` for its length.
 */
export const jsonObjectOrTextSchema = z
  .unknown()
  .transform((value, context): JsonObject | string => {
    if (typeof value !== 'string') return readObject(value, context)
    if (value.length > limits.messageCharactersMax) refuseTooLarge(value, context)
    return value
  })
  .meta({ type: ['object', 'string'] })

function readObject(value: unknown, context: z.RefinementCtx, isAsSent = false): JsonObject {
  try {
    const budget = { charactersLeft: limits.messageCharactersMax, isAsSent }
    if (isObject(value) && (isAsSent || isPlainObject(value))) return copyObject(value, [], budget)
    context.addIssue({
      code: 'invalid_type',
      expected: 'object',
      input: value,
      message: 'must be an object of JSON values',
    })
  } catch (error) {
    if (!(error instanceof NoJson)) throw error
    if (error.isTooLarge) refuseTooLarge(value, context)
    else context.addIssue({ code: 'custom', input: value, path: [...error.path], message: error.message })
  }
  return z.NEVER
}

function refuseTooLarge(value: unknown, context: z.RefinementCtx): void {
  const maximum = limits.messageCharactersMax
  const message = `must have at most ${maximum} characters`
  context.addIssue({ code: 'too_big', origin: 'string', maximum, input: value, message })
}

/** A value that is not JSON, with its path and the violated rule. */
class NoJson extends Error {
  override name = 'NoJson'
  readonly path: readonly PropertyKey[]
  readonly isTooLarge: boolean
  constructor(path: readonly PropertyKey[], rule: string, isTooLarge = false) {
    super(rule)
    this.path = [...path]
    this.isTooLarge = isTooLarge
  }
}

/**
 * A shared value counts at each of its occurrences: without this limit a handful of shared arrays would fill the
 * memory.
 */
interface Budget {
  charactersLeft: number
  /**
   * Whether values are converted into the form in which they would be sent; otherwise a value that is not JSON is
   * refused.
   */
  readonly isAsSent: boolean
}

/** @param path the path of `value`: one mutable array, so that a valid value allocates no list */
function copyJson(given: unknown, path: PropertyKey[], budget: Budget): JsonValue {
  const value = budget.isAsSent ? asSent(given) : given
  spend(budget, typeof value === 'string' ? value.length + 1 : 1)
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number' && Number.isFinite(value)) return value
  const isArray = Array.isArray(value)
  if (!isArray && !(isObject(value) && (budget.isAsSent || isPlainObject(value)))) {
    throw new NoJson(path, 'must be a JSON value')
  }
  // A cyclic object ends here as well.
  if (path.length === limits.jsonDepthMax) throw new NoJson([], `must be at most ${limits.jsonDepthMax} levels deep`)
  return isArray ? copyArray(value, path, budget) : copyObject(value, path, budget)
}

function copyArray(values: readonly unknown[], path: PropertyKey[], budget: Budget): JsonValue[] {
  const copies: JsonValue[] = []
  // By index, so that holes of a sparse array are visited, too.
  for (let index = 0; index < values.length; index++) {
    path.push(index)
    copies.push(copyJson(values[index], path, budget))
    path.pop()
  }
  return copies
}

function copyObject(object: object, path: PropertyKey[], budget: Budget): JsonObject {
  const fields: [string, JsonValue][] = []
  for (const key of Object.keys(object)) {
    if (budget.isAsSent && isLeftOut(object[key as keyof typeof object])) continue
    spend(budget, key.length)
    path.push(key)
    fields.push([key, copyJson(object[key as keyof typeof object], path, budget)])
    path.pop()
  }
  // Defines each field, also one named `__proto__`, which an assignment would treat as the prototype.
  return Object.fromEntries(fields)
}

function spend(budget: Budget, characters: number): void {
  budget.charactersLeft -= characters
  if (budget.charactersLeft < 0)
    throw new NoJson([], `must have at most ${limits.messageCharactersMax} characters`, true)
}

/** The JSON form of a value that is not JSON itself. */
function asSent(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof Uint8Array) return base64Of(value)
  if (value instanceof ArrayBuffer) return base64Of(new Uint8Array(value))
  return 'toJSON' in value && typeof value.toJSON === 'function' ? value.toJSON() : value
}

function isLeftOut(value: unknown): boolean {
  return value === undefined || typeof value === 'function' || typeof value === 'symbol'
}

const BYTES_AT_ONCE = 8_192

/** Without Node's buffers, which browsers lack. */
function base64Of(bytes: Uint8Array): string {
  let binary = ''
  for (let at = 0; at < bytes.length; at += BYTES_AT_ONCE) {
    binary += String.fromCharCode(...bytes.subarray(at, at + BYTES_AT_ONCE))
  }
  return btoa(binary)
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isPlainObject(value: unknown): value is object {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype
}
