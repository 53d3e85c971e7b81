import type { z } from 'zod'
import type { JsonValue } from './json.js'

/**
 * A type whose fields and lists, at every level, are read and not changed. JSON of any form stays as it is, since its type
 * holds itself, and a record is read-only at its own level.
 */
export type ReadonlyDeep<Value> = [JsonValue] extends [Value] ? Value : ReadonlyFields<Value>

type ReadonlyFields<Value> = Value extends object
  ? string extends keyof Value
    ? Readonly<Value>
    : { readonly [Field in keyof Value]: ReadonlyDeep<Value[Field]> }
  : Value

/** The output of a schema, for those who read it. */
export type OutputOf<Schema extends z.ZodType> = ReadonlyDeep<z.output<Schema>>
