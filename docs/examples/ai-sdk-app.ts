import type { RemoteClient } from '@heddle/client/http'
import { type LanguageModel, streamText } from 'ai'

export interface AiSdkApp {
  readonly heddle: RemoteClient
  /** Of any provider of the AI SDK. */
  readonly model: LanguageModel
  readonly agent: string
}

/**
 * One answer of a chat app on the AI SDK, piece by piece as it comes. It is stored once it is whole: an answer that breaks
 * off is not, and the user's message stays.
 */
export async function* answer(
  { heddle, model, agent }: AiSdkApp,
  { thread, text }: { thread: string; text: string },
): AsyncGenerator<string> {
  await heddle.messages.append({ agent, thread, messages: [{ role: 'user', content: text }] })
  const context = await heddle.contexts.build({ thread, agent, budget: 16_000, format: 'ai-sdk' })
  const streamed = streamText({
    model,
    messages: context.messages,
    ...(context.system !== null && { system: context.system }),
  })
  yield* streamed.textStream
  const [response, usage] = await Promise.all([streamed.response, streamed.usage])
  const messages = [{ response, usage }]
  await heddle.messages.append({ agent, thread, format: 'ai-sdk', contextId: context.id, messages })
}
