import type { MessageInput } from '@heddle/contracts'
import { isJsonObject, type Json, type JsonObject } from './json.js'

type Usage = NonNullable<MessageInput['usage']>

/*
 * Token usage of providers, in Heddle's own names: `inputTokens` are the uncached ones, with `cacheReadTokens` and
 * `cacheWriteTokens` beside them, so that the sum of these three and `outputTokens` is the size of the thread. OpenAI
 * includes cached tokens in its input, Anthropic reports them separately.
 */

/** For OpenAI's chat completions and Responses API, and compatible servers. */
export function openAiUsage(usage: Json | undefined): { usage?: Usage } {
  if (!isJsonObject(usage)) return {}
  const details = objectOf(usage, 'prompt_tokens_details') ?? objectOf(usage, 'input_tokens_details')
  const outputDetails = objectOf(usage, 'completion_tokens_details') ?? objectOf(usage, 'output_tokens_details')
  return counted(usage, {
    whole: countOf(usage, 'prompt_tokens', 'input_tokens'),
    cacheRead: countOf(details, 'cached_tokens'),
    cacheWrite: countOf(details, 'cache_write_tokens'),
    output: countOf(usage, 'completion_tokens', 'output_tokens'),
    reasoning: countOf(outputDetails, 'reasoning_tokens'),
  })
}

export function anthropicUsage(usage: Json | undefined): { usage?: Usage } {
  if (!isJsonObject(usage)) return {}
  const cacheRead = countOf(usage, 'cache_read_input_tokens')
  const cacheWrite = countOf(usage, 'cache_creation_input_tokens')
  const input = countOf(usage, 'input_tokens')
  return counted(usage, {
    whole: input === undefined ? undefined : input + (cacheRead ?? 0) + (cacheWrite ?? 0),
    cacheRead,
    cacheWrite,
    output: countOf(usage, 'output_tokens'),
  })
}

/**
 * For the AI SDK. Version 5 passes on the provider's input count: for Anthropic and Bedrock without cached tokens, for
 * others with them. Later versions say how many were cached.
 *
 * @param metadata the result's `providerMetadata`
 */
export function aiSdkUsage(usage: Json | undefined, metadata: Json | undefined): { usage?: Usage } {
  if (!isJsonObject(usage)) return {}
  const details = objectOf(usage, 'inputTokenDetails')
  const input = countOf(usage, 'inputTokens')
  const cacheRead = countOf(details, 'cacheReadTokens') ?? countOf(usage, 'cachedInputTokens')
  const provider = isJsonObject(metadata)
    ? (objectOf(metadata, 'anthropic') ?? objectOf(metadata, 'bedrock'))
    : undefined
  const cacheWrite =
    countOf(details, 'cacheWriteTokens') ??
    countOf(provider, 'cacheCreationInputTokens') ??
    countOf(provider && objectOf(provider, 'usage'), 'cacheWriteInputTokens', 'cache_creation_input_tokens')
  const isBeside = details === undefined && (provider !== undefined || (cacheRead ?? 0) > (input ?? 0))
  const beside = isBeside ? (cacheRead ?? 0) + (cacheWrite ?? 0) : 0
  return counted(usage, {
    whole: input === undefined ? undefined : input + beside,
    cacheRead,
    cacheWrite,
    output: countOf(usage, 'outputTokens'),
    reasoning: countOf(usage, 'reasoningTokens') ?? countOf(objectOf(usage, 'outputTokenDetails'), 'reasoningTokens'),
  })
}

interface Counts {
  /** All input tokens, cached or not. */
  readonly whole: number | undefined
  readonly cacheRead: number | undefined
  readonly cacheWrite: number | undefined
  readonly output: number | undefined
  readonly reasoning?: number | undefined
}

/** @param given kept unchanged if it counts neither input nor output */
function counted(given: JsonObject, counts: Counts): { usage?: Usage } {
  const { whole, cacheRead = 0, cacheWrite = 0, output, reasoning = 0 } = counts
  if (whole === undefined && output === undefined) return Object.keys(given).length > 0 ? { usage: given } : {}
  return {
    usage: {
      inputTokens: Math.max(0, (whole ?? 0) - cacheRead - cacheWrite),
      ...(cacheRead > 0 && { cacheReadTokens: cacheRead }),
      ...(cacheWrite > 0 && { cacheWriteTokens: cacheWrite }),
      outputTokens: output ?? 0,
      ...(reasoning > 0 && { reasoningTokens: reasoning }),
    },
  }
}

function countOf(counts: JsonObject | undefined, ...names: string[]): number | undefined {
  for (const name of names) {
    const value = counts?.[name]
    if (typeof value === 'number' && value >= 0) return value
  }
  return undefined
}

function objectOf(value: JsonObject | undefined, name: string): JsonObject | undefined {
  const field = value?.[name]
  return isJsonObject(field) ? field : undefined
}
