import type { FormatName } from '../settings/strategies.js'
import type { ContextRequest, ContextResult } from './contexts.js'
import type {
  AiSdkMessage,
  AnthropicMessage,
  AnthropicText,
  OpenAiChatMessage,
  OpenAiResponsesItem,
} from './provider-messages.js'

/** The parts of a context in each format, with the types of the provider's own package. */
interface Delivered {
  neutral: Pick<ContextResult, 'system' | 'messages'>
  'openai-chat': { system: null; messages: OpenAiChatMessage[] }
  'openai-responses': { system: null; messages: OpenAiResponsesItem[] }
  anthropic: { system: AnthropicText[] | null; messages: AnthropicMessage[] }
  'ai-sdk': { system: string | null; messages: AiSdkMessage[] }
}

/** A built context in a known format, whose messages can be passed to the provider's package unchanged. */
export type ContextIn<Format extends FormatName> = Omit<ContextResult, 'format' | 'system' | 'messages'> &
  Delivered[Format] & { format: Format }

/** The context for a request: in the format that it names, if its type is specific. */
export type ContextFor<Request extends ContextRequest> = Request extends { readonly format: infer Format }
  ? Format extends FormatName
    ? ContextIn<Format>
    : ContextResult
  : ContextResult
