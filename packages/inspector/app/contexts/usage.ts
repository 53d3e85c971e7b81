const INPUT_FIELDS = ['inputTokens', 'input_tokens', 'prompt_tokens', 'promptTokens']
const CACHED_FIELDS = ['cacheReadTokens', 'cache_read_input_tokens', 'cacheWriteTokens', 'cache_creation_input_tokens']

/** The tokens of a request as its provider reported them with the reply; null if it reported none. */
export function reportedTokens(usage: Readonly<Record<string, unknown>>): number | null {
  const [input] = INPUT_FIELDS.map((field) => usage[field]).filter(isCount)
  if (input === undefined) return null
  // Anthropic reports cached tokens separately from the input, OpenAI as part of it, under other names.
  const cached = CACHED_FIELDS.map((field) => usage[field]).filter(isCount)
  return cached.reduce((sum, tokens) => sum + tokens, input)
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0
}
