export function isJsonRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function stringField(fields: Readonly<Record<string, unknown>>, name: string): string | null {
  const value = fields[name]
  return typeof value === 'string' ? value : null
}
