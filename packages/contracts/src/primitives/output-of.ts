import type { z } from 'zod'
import type { JsonValue } from './json.js'

/**
 * A type with read-only fields and lists at every level. Arbitrary JSON is unchanged, since its type is recursive, and
 * a record is read-only only at its own level.
 */
export type ReadonlyDeep<Value> = [JsonValue] extends [Value] ? Value : ReadonlyFields<Value>

type ReadonlyFields<Value> = Value extends object
  ? string extends keyof Value
    ? Readonly<Value>
    : { readonly [Field in keyof Value]: ReadonlyDeep<Value[Field]> }
  : Value

export type OutputOf<Schema extends z.ZodType> = ReadonlyDeep<z.output<Schema>>
