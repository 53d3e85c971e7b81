interface UsageMetadata {
  readonly input_tokens?: number | undefined
  readonly output_tokens?: number | undefined
  readonly input_token_details?: { readonly cache_read?: number; readonly cache_creation?: number } | undefined
  readonly output_token_details?: { readonly reasoning?: number } | undefined
}

/**
 * The usage of a reply in Heddle's names: LangChain counts tokens from a cache as a part of the input. Some of its models leave
 * out what is zero, against their types.
 */
export function usageOf(usage: UsageMetadata | undefined): Record<string, number> | undefined {
  if (usage?.input_tokens === undefined) return undefined
  const { cache_read: read = 0, cache_creation: written = 0 } = usage.input_token_details ?? {}
  const reasoning = usage.output_token_details?.reasoning
  return {
    inputTokens: Math.max(0, usage.input_tokens - read - written),
    cacheReadTokens: read,
    cacheWriteTokens: written,
    outputTokens: usage.output_tokens ?? 0,
    ...(reasoning !== undefined && { reasoningTokens: reasoning }),
  }
}
