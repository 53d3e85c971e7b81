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
  let text = ''
  let isEmpty = true
  for (const value of values) {
    text += text === '' ? spell(value) : `,${spell(value)}`
    isEmpty &&= value === null || value === undefined
  }
  return isEmpty ? '{}' : `{${text}}`
}

function spell(value: Spellable): string {
  if (value === null || value === undefined) return 'NULL'
  if (typeof value === 'boolean') return value ? 't' : 'f'
  return typeof value === 'object' ? value.spelled : `"${escapeElement(value)}"`
}

export function escapeElement(text: string): string {
  return text.replace(/["\\]/g, '\\$&')
}
