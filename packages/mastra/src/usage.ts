import type { Usage } from './framework.js'

/** The usage of a reply in Heddle's names, which count tokens from a cache apart from the input. */
export function usageOf(usage: Usage): Record<string, number> | undefined {
  const { inputTokens, outputTokens, reasoningTokens } = usage
  if (inputTokens === undefined || outputTokens === undefined) return undefined
  const { cachedInputTokens: read = 0, cacheCreationInputTokens: written = 0 } = usage
  return {
    inputTokens: Math.max(0, inputTokens - read - written),
    cacheReadTokens: read,
    cacheWriteTokens: written,
    outputTokens,
    ...(reasoningTokens !== undefined && { reasoningTokens }),
  }
}
