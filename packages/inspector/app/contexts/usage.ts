import type { ContextSummary, MessageEntry } from '@heddle/contracts'

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

/** The tokens that replies of a model reported, by those counted of the contexts that they answered. */
export interface Calibration {
  /** Empty for replies without the name of a model. */
  readonly model: string
  readonly replies: number
  /** The median of reported tokens by counted ones. */
  readonly ratio: number
}

/** Replies that name one of the contexts and report its tokens, by model, the most replies first. */
export function calibrationsOf(
  replies: readonly Pick<MessageEntry, 'contextId' | 'usage' | 'model'>[],
  contexts: readonly Pick<ContextSummary, 'id' | 'tokensUsed'>[],
): Calibration[] {
  const counted = new Map(contexts.map(({ id, tokensUsed }) => [id, tokensUsed ?? 0]))
  const ratios = new Map<string, number[]>()
  for (const { contextId, usage, model = '' } of replies) {
    const tokens = counted.get(contextId ?? '') ?? 0
    const reported = usage === undefined ? null : reportedTokens(usage)
    if (tokens > 0 && reported !== null) ratios.set(model, [...(ratios.get(model) ?? []), reported / tokens])
  }
  return [...ratios]
    .map(([model, all]) => ({ model, replies: all.length, ratio: medianOf(all) }))
    .sort((one, other) => other.replies - one.replies)
}

function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.floor(sorted.length / 2)] ?? 1
}
