import type { AiSdkMessage } from '@heddle/contracts'
import { PromptThread } from './conversation.js'
import type { HeddleOptions } from './options.js'
import type { PromptMessage } from './prompt.js'

/** The messages of a step in place of those so far; absent while Heddle is away. */
export interface PreparedStep {
  // biome-ignore lint/suspicious/noExplicitAny: the messages of a context fit `ModelMessage` of each version.
  messages?: any[]
}

/**
 * `prepareStep` of `generateText`, `streamText` and agents: stores the messages so far, and gives the step a context of the
 * thread within a budget. For models that are not wrapped; with {@link heddleMiddleware} it is not needed. The reply of the
 * last step is not seen here: append it afterwards, or ask again with its messages.
 */
export function heddlePrepareStep(
  options: HeddleOptions,
): (step: { readonly messages: readonly unknown[] }) => Promise<PreparedStep> {
  const conversation = new PromptThread(options)
  return async ({ messages }) => {
    const given = messages as readonly PromptMessage[]
    const assembled = await conversation.assemble(given.filter(({ role }) => role !== 'system'))
    if (assembled === null) return {}
    const ours: AiSdkMessage[] = [...assembled.messages]
    return { messages: ours }
  }
}
