import type Anthropic from '@anthropic-ai/sdk'
import { RetryableError } from '@heddle/contracts'
import { ANSWER_CHARACTERS_MAX, type ChatModel, type ChatModelOptions, type ChatReply } from './chat-model.js'

/** A model behind Anthropic's messages. Answers are streamed. */
export function createAnthropicChat({ provider, model, baseUrl, apiKey }: ChatModelOptions): ChatModel {
  let client: Promise<Anthropic> | undefined
  const open = async () => {
    const { default: Client } = await import('@anthropic-ai/sdk')
    return new Client({ apiKey, authToken: null, baseURL: baseUrl, maxRetries: 0, logLevel: 'off' })
  }
  return {
    provider,
    model,
    async complete({ system, user, outputTokensMax }, signal) {
      client ??= open()
      const stream = await (await client).messages.create(
        { model, system, messages: [{ role: 'user', content: user }], max_tokens: outputTokensMax, stream: true },
        { signal },
      )
      return await read(stream, signal)
    },
  }
}

async function read(stream: AsyncIterable<Anthropic.RawMessageStreamEvent>, signal: AbortSignal): Promise<ChatReply> {
  let text = ''
  let stopReason: string | null = null
  let inputTokens: number | null = null
  let outputTokens: number | null = null
  for await (const event of stream) {
    if (event.type === 'message_start') inputTokens = event.message.usage?.input_tokens ?? null
    if (event.type === 'content_block_delta' && event.delta.type === 'text_delta') text += event.delta.text
    if (event.type === 'message_delta') {
      stopReason = event.delta.stop_reason ?? stopReason
      outputTokens = event.usage?.output_tokens ?? outputTokens
    }
    if (text.length > ANSWER_CHARACTERS_MAX) break
  }
  signal.throwIfAborted()
  if (stopReason === null) throw new RetryableError('SERVICE_UNAVAILABLE', 'the answer ended before it was complete')
  const finish = stopReason === 'refusal' ? 'refused' : stopReason === 'max_tokens' ? 'length' : 'stop'
  return { text, finish, inputTokens, outputTokens }
}
