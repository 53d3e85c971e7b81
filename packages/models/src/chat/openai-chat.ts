import { RetryableError } from '@heddle/contracts'
import type OpenAI from 'openai'
import { ANSWER_CHARACTERS_MAX, type ChatModel, type ChatModelOptions, type ChatReply } from './chat-model.js'

/** A model behind OpenAI's chat completions, of OpenAI or a compatible provider. Answers are streamed. */
export function createOpenAiChat({ provider, model, baseUrl, apiKey, outputField }: ChatModelOptions): ChatModel {
  let client: Promise<OpenAI> | undefined
  const open = async () => {
    // Loaded with the first call: most processes never make one.
    const { default: Client } = await import('openai')
    // Retries and timeouts are Heddle's own, so that they are counted, and follow the injected clock.
    return new Client({ apiKey: apiKey ?? 'none', baseURL: baseUrl, maxRetries: 0, logLevel: 'off' })
  }
  return {
    provider,
    model,
    async complete({ system, user, outputTokensMax }, signal) {
      client ??= open()
      const stream = await (await client).chat.completions.create(
        {
          model,
          messages: [
            { role: 'system', content: system },
            { role: 'user', content: user },
          ],
          stream: true,
          stream_options: { include_usage: true },
          [outputField]: outputTokensMax,
        },
        { signal },
      )
      return await read(stream, signal)
    },
  }
}

async function read(stream: AsyncIterable<OpenAI.ChatCompletionChunk>, signal: AbortSignal): Promise<ChatReply> {
  let text = ''
  let finish: string | null = null
  let refused = false
  let usage: { prompt_tokens?: number; completion_tokens?: number } | null = null
  for await (const chunk of stream) {
    const [choice] = chunk.choices ?? []
    text += choice?.delta?.content ?? ''
    refused ||= (choice?.delta?.refusal ?? '') !== ''
    finish = choice?.finish_reason ?? finish
    usage = chunk.usage ?? usage
    if (text.length > ANSWER_CHARACTERS_MAX) break
  }
  // An aborted stream ends like a complete one.
  signal.throwIfAborted()
  if (finish === null) throw new RetryableError('SERVICE_UNAVAILABLE', 'the answer ended before it was complete')
  return {
    text,
    finish: refused || finish === 'content_filter' ? 'refused' : finish === 'length' ? 'length' : 'stop',
    inputTokens: usage?.prompt_tokens ?? null,
    outputTokens: usage?.completion_tokens ?? null,
  }
}
