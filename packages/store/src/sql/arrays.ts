/**
 * A list of UUIDs, numbers or hexadecimal digits as a Postgres array literal, for `any(${asArray(ids)}::uuid[])`: these
 * need no quotes. The driver could write arrays itself, but would query the array types on each new connection, and a
 * connection that is lost during this query ends the process.
 */
export function asArray(values: Iterable<string | number>): string {
  return `{${[...values].join(',')}}`
}

/** A value that is an array element already. */
export interface Spelled {
  readonly spelled: string
}

export type Spellable = string | boolean | Spelled | null | undefined

/** The same for any texts; null and undefined are null. A list of only these becomes empty. */
export function asQuotedArray(values: readonly Spellable[]): string {
  // Most columns of most batches have no value.
  return values.every(isNull) ? '{}' : `{${values.map(spell).join(',')}}`
}

function isNull(value: Spellable): value is null | undefined {
  return value === null || value === undefined
}

function spell(value: Spellable): string {
  if (isNull(value)) return 'NULL'
  if (typeof value === 'boolean') return value ? 't' : 'f'
  return typeof value === 'object' ? value.spelled : `"${escapeElement(value)}"`
}

export function escapeElement(text: string): string {
  return text.replace(/["\\]/g, '\\$&')
}
