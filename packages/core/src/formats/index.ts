import type { ContextResult, FormatName } from '@heddle/contracts'
import { anthropicOpening, toAnthropic, toAnthropicBlocks } from './anthropic.js'
import { countRendered, countRenderedMessage } from './counting.js'
import { type NeutralMessage, toNeutral } from './neutral.js'
import { openAiOpening, toOpenAiChat, toOpenAiMessage } from './openai-chat.js'

export { countRendered, countSystem } from './counting.js'
export { checkWellFormed, type NeutralMessage } from './neutral.js'

/** Messages as they are sent, and the system prompt where the format has it beside them. */
export interface Rendered {
  system: string | null
  messages: ContextResult['messages']
}

/** @param neutral well formed; see {@link NeutralMessage} */
export function render(format: FormatName, neutral: readonly NeutralMessage[]): Rendered {
  switch (format) {
    case 'neutral':
      return { system: null, messages: neutral.map(toNeutral) }
    case 'openai-chat':
      return toOpenAiChat(neutral)
    case 'anthropic':
      return toAnthropic(neutral)
  }
}

/**
 * What one message costs at most in a format, wherever it stands. Added up over a list, together with
 * {@link countFrame}, never less than the count of the rendered list: budgets can be filled before anything is rendered.
 */
export function countNeutralMessage(
  format: FormatName,
  message: NeutralMessage,
  count: (text: string) => number,
): number {
  switch (format) {
    case 'neutral':
      return countRenderedMessage(message, count)
    case 'openai-chat': {
      const sent = toOpenAiMessage(message)
      return sent === null ? 0 : countRenderedMessage(sent, count)
    }
    case 'anthropic': {
      const content = toAnthropicBlocks(message)
      return content.length === 0 ? 0 : countRenderedMessage({ content }, count)
    }
  }
}

/** Trimming the last text can move token borders, by a token at most. */
const TRIM_TOKENS = 1

/** What a format adds to a list once: the opening that some lists need, and what the provider adds. */
export function countFrame(format: FormatName, count: (text: string) => number): number {
  switch (format) {
    case 'neutral':
      return countRendered([], count)
    case 'openai-chat':
      return countRendered([openAiOpening()], count)
    case 'anthropic':
      return countRendered([anthropicOpening()], count) + TRIM_TOKENS
  }
}
