type Fields = Readonly<Record<string, unknown>>

/**
 * The usage of a reply in Heddle's names. Version 2 of the provider's interface has numbers; versions 3 and 4 have them by
 * kind, and say which were cached.
 */
export function usageOf(usage: unknown): Record<string, number> | undefined {
  if (typeof usage !== 'object' || usage === null) return undefined
  const { inputTokens, outputTokens, cachedInputTokens } = usage as Fields
  const input = byKind(inputTokens)
  const read = numberIn(input, 'cacheRead') ?? numberOf(cachedInputTokens) ?? 0
  const written = numberIn(input, 'cacheWrite') ?? 0
  const whole = numberIn(input, 'total')
  const output = numberIn(byKind(outputTokens), 'total')
  if (whole === undefined || output === undefined) return undefined
  const fresh = numberIn(input, 'noCache') ?? Math.max(0, whole - read - written)
  return { inputTokens: fresh, cacheReadTokens: read, cacheWriteTokens: written, outputTokens: output }
}

function byKind(count: unknown): Fields {
  return typeof count === 'object' && count !== null ? (count as Fields) : { total: count }
}

function numberIn(fields: Fields, name: string): number | undefined {
  return numberOf(fields[name])
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}
