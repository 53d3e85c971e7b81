/**
 * A list of UUIDs, numbers or hexadecimal digits in Postgres' own spelling, for `any(${asArray(ids)}::uuid[])`: these need
 * no quoting. The driver could spell arrays itself, but would ask each new connection for the types of arrays, and a
 * connection that is cut during that question ends the process.
 */
export function asArray(values: Iterable<string | number>): string {
  return `{${[...values].join(',')}}`
}

/** A value that was spelled before. */
export interface Spelled {
  readonly spelled: string
}

export type Spellable = string | boolean | Spelled | null | undefined

/** A list of any texts, likewise; null and undefined are null. A list of nothing but these is empty. */
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
