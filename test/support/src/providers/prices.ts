/** Dollars per million tokens, and the smallest prefix that a model's cache holds. */
export interface ModelPrices {
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly write5m: number
  readonly write1h: number
  readonly cacheTokensMin: number
}

const anthropic = (input: number, output: number, cacheTokensMin: number): ModelPrices => ({
  input,
  output,
  cacheRead: 0.1 * input,
  write5m: 1.25 * input,
  write1h: 2 * input,
  cacheTokensMin,
})

/** OpenAI adds to its cache without a price. */
const openAi = (input: number, cacheRead: number, output: number): ModelPrices => ({
  input,
  output,
  cacheRead,
  write5m: input,
  write1h: input,
  cacheTokensMin: 1024,
})

/**
 * Prices of the models in the recorded sessions, by the beginning of their names; written from the providers' pages on prices and on
 * prompt caching (docs.anthropic.com and platform.openai.com, 2026-02), apart from the table of the packages.
 */
const models: readonly (readonly [prefix: string, prices: ModelPrices])[] = [
  ['claude-opus-4-5', anthropic(5, 25, 4096)],
  ['claude-opus-4-6', anthropic(5, 25, 4096)],
  ['claude-sonnet-4', anthropic(3, 15, 1024)],
  ['claude-haiku-4-5', anthropic(1, 5, 4096)],
  ['gpt-4o', openAi(2.5, 1.25, 10)],
  ['gpt-4.1', openAi(2, 0.5, 8)],
  ['gpt-5', openAi(1.25, 0.125, 10)],
]

/** @throws RangeError for a model without prices */
export function modelPrices(model: string): ModelPrices {
  const found = models.find(([prefix]) => model.startsWith(prefix))
  if (found === undefined) throw new RangeError(`no prices of the model "${model}"`)
  return found[1]
}
