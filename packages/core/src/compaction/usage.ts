import type { Message } from '../conversation/message.js'

/**
 * Tokens that the provider reported for the request that this message answered, plus the answer. Trusted only if the
 * reply names its context: otherwise the provider may have counted a context that Heddle did not build, such as that of
 * a recorded session, and every further turn would look like an overflow.
 */
export function reportedTokens(message: Message): number | null {
  if (message.contextId === null || message.usage === null) return null
  const read = (...names: string[]) => {
    for (const name of names) {
      const value = message.usage?.[name]
      if (typeof value === 'number' && Number.isFinite(value) && value > 0) return value
    }
    return 0
  }
  const input = read('inputTokens', 'input_tokens', 'prompt_tokens', 'promptTokens')
  const output = read('outputTokens', 'output_tokens', 'completion_tokens', 'completionTokens')
  // Anthropic reports cached tokens separately from the input, OpenAI as part of it.
  const cached =
    read('cacheReadTokens', 'cache_read_input_tokens') + read('cacheWriteTokens', 'cache_creation_input_tokens')
  const total = input + cached + output
  return total > 0 ? total : null
}
