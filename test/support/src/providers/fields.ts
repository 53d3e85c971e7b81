/** Helpers of the provider's rules and of its counting. They share no code with the packages that they judge. */
export type Fields = Readonly<Record<string, unknown>>

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The entries of a list as objects; empty when it is not a list. Other entries become empty objects, which no rule accepts. */
export function listOf(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.map((entry: unknown) => (isFields(entry) ? entry : {})) : []
}

export function isFilled(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

/** As a server in another language reads it: some treat control characters as white space. */
export function isBlank(text: string): boolean {
  return !/[^\s\p{Cc}]/u.test(text)
}

/** Whether a text anywhere in a value, or the name of a field, holds half of a surrogate pair. */
export function isBroken(value: unknown): boolean {
  if (typeof value === 'string') return !value.isWellFormed()
  if (typeof value !== 'object' || value === null) return false
  return Object.entries(value).some(([key, field]) => !key.isWellFormed() || isBroken(field))
}

/** Values that occur in a list for the second time. */
export function repeatedIn(values: readonly string[]): string[] {
  return values.filter((value, index) => values.indexOf(value) < index)
}
