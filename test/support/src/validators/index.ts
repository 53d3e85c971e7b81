import { validateAiSdk } from './ai-sdk.js'
import { validateAnthropic } from './anthropic.js'
import { validateNeutral } from './neutral.js'
import { validateOpenAiChat } from './openai-chat.js'
import { validateOpenAiResponses } from './openai-responses.js'

export { validateAnthropic } from './anthropic.js'
export { validateOpenAiChat } from './openai-chat.js'

/** The faults for which providers of a format would refuse a context; empty when they would accept it. */
export function validateContext(context: { format: string; system: unknown; messages: unknown }): string[] {
  const { format, system, messages } = context
  switch (format) {
    case 'neutral':
      return validateNeutral(messages)
    case 'openai-chat':
      return validateOpenAiChat(messages)
    case 'openai-responses':
      return validateOpenAiResponses(messages)
    case 'anthropic':
      return validateAnthropic({ system, messages })
    case 'ai-sdk':
      return validateAiSdk({ system, messages })
    default:
      return [`the format "${format}" is unknown`]
  }
}
