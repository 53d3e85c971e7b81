import type { FormatName } from '../settings/strategies.js'
import type { ContextRequest, ContextResult } from './contexts.js'
import type {
  AiSdkMessage,
  AnthropicMessage,
  AnthropicText,
  OpenAiChatMessage,
  OpenAiResponsesItem,
} from './provider-messages.js'

/** What each format puts into a context, as the provider's own package takes it. */
interface Delivered {
  neutral: Pick<ContextResult, 'system' | 'messages'>
  'openai-chat': { system: null; messages: OpenAiChatMessage[] }
  'openai-responses': { system: null; messages: OpenAiResponsesItem[] }
  anthropic: { system: AnthropicText[] | null; messages: AnthropicMessage[] }
  'ai-sdk': { system: string | null; messages: AiSdkMessage[] }
}

/** A built context in a format that is known, whose messages can be handed to the provider's package as they are. */
export type ContextIn<Format extends FormatName> = Omit<ContextResult, 'format' | 'system' | 'messages'> &
  Delivered[Format] & { format: Format }

/** What a request is answered with: in the format that it names, where its type tells which. */
export type ContextFor<Request extends ContextRequest> = Request extends { readonly format: infer Format }
  ? Format extends FormatName
    ? ContextIn<Format>
    : ContextResult
  : ContextResult
