type Usage = Readonly<Record<string, unknown>>

const INPUT = ['inputTokens', 'input_tokens', 'prompt_tokens', 'promptTokens']
const OUTPUT = ['outputTokens', 'output_tokens', 'completion_tokens', 'completionTokens']
/** Anthropic reports cached tokens separately from the input, OpenAI as part of it, under other names. */
const CACHED = [
  ['cacheReadTokens', 'cache_read_input_tokens'],
  ['cacheWriteTokens', 'cache_creation_input_tokens'],
]

/** The tokens of a whole request as its provider counted them, cached ones included; 0 without a count. */
export function reportedInput(usage: Usage): number {
  return CACHED.reduce((sum, names) => sum + firstCount(usage, names), firstCount(usage, INPUT))
}

/** The tokens of the answer as its provider counted them; 0 without a count. */
export function reportedOutput(usage: Usage): number {
  return firstCount(usage, OUTPUT)
}

function firstCount(usage: Usage, names: readonly string[]): number {
  for (const name of names) {
    const value = usage[name]
    if (typeof value === 'number' && Number.isFinite(value) && value > 0) return value
  }
  return 0
}
