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
  const replaced = new ReplacedMessages()
  return async ({ messages }) => {
    const said = replaced.undo(messages)
    const given = said as readonly PromptMessage[]
    const assembled = await conversation.assemble(given.filter(({ role }) => role !== 'system'))
    if (assembled === null) return replaced.replace(said, messages === said ? null : [...said])
    const ours: AiSdkMessage[] = [...assembled.messages]
    return replaced.replace(said, ours)
  }
}

/** Version 7 begins each step with the messages that the last one returned; earlier versions, with those that were said. */
class ReplacedMessages {
  #said: readonly unknown[] = []
  #shown: readonly unknown[] = []

  /** @returns the messages that were said, in place of those that a step before was given */
  undo(messages: readonly unknown[]): readonly unknown[] {
    const shown = this.#shown
    const isCarried = shown.length > 0 && shown.every((message, place) => message === messages[place])
    return isCarried ? [...this.#said, ...messages.slice(shown.length)] : messages
  }

  replace(said: readonly unknown[], shown: unknown[] | null): PreparedStep {
    this.#said = said
    this.#shown = shown ?? []
    return shown === null ? {} : { messages: shown }
  }
}
