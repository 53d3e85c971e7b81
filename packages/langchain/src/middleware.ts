import { Availability, BUDGET_DEFAULT, Conversation } from '@heddle/client/adapters'
import type { MessageDraft } from '@heddle/client/forms'
import { AIMessage, type BaseMessage, SystemMessage, ToolMessage } from '@langchain/core/messages'
import { createMiddleware } from 'langchain'
import { v7 } from 'uuid'
import { assembledMessages, splitInstructions } from './assembled.js'
import { draftOf } from './drafts.js'
import { type HeddleOptions, type RunConfiguration, threadOf } from './options.js'
import { budgetBeside } from './overhead.js'

const CONSEQUENCE = 'The model gets its messages as they are, until Heddle is back.'
/** Conversations whose end is kept in memory; others read it again. */
const CONVERSATIONS_MAX = 100

/**
 * A middleware for agents of LangChain: stores the messages of a run in a thread, and gives the model a context of it
 * within a budget, beside the instructions and tools. The state of the agent stays as it is.
 */
export function heddleMiddleware(options: HeddleOptions) {
  const threads = new Threads(options)
  return createMiddleware({
    name: 'HeddleMiddleware',
    beforeModel: async ({ messages }, runtime) => {
      await threads.of(runtime).conversation.store(draftsOf(messages), { newAgentRollingWindow: null })
    },
    wrapModelCall: async (request, handler) => {
      const thread = threads.of(request.runtime)
      const budget = budgetBeside(options.budget ?? BUDGET_DEFAULT, request)
      const context = await thread.conversation.assemble(draftsOf(request.messages), 'neutral', budget)
      thread.contextId = context?.id
      if (context === null) return await handler(request)
      const { instructions, conversation } = splitInstructions(context.messages)
      const messages = assembledMessages(conversation, request.messages)
      if (instructions.length === 0) return await handler({ ...request, messages })
      const texts = [request.systemMessage.text, ...instructions].filter((text) => text !== '')
      const { systemPrompt: _, ...rest } = request
      return await handler({ ...rest, messages, systemMessage: new SystemMessage(texts.join('\n\n')) })
    },
    afterModel: async ({ messages }, runtime) => {
      const reply = messages.at(-1)
      const thread = threads.of(runtime)
      const draft = reply !== undefined && AIMessage.isInstance(reply) ? draftOf(reply) : null
      if (draft !== null && !isEmpty(draft)) await thread.conversation.add(draft, thread.contextId)
    },
    wrapToolCall: async (request, handler) => {
      const result = await handler(request)
      // Results of parallel calls are stored in the order of the state, with the next request.
      const calls = request.state.messages.findLast((message) => AIMessage.isInstance(message))?.tool_calls
      if (calls?.length !== 1 || !ToolMessage.isInstance(result)) return result
      // The state would give it one later, and then it is known.
      if (result.id === undefined) result._updateId(v7())
      const draft = draftOf(result)
      if (draft !== null) await threads.of(request.runtime).conversation.add(draft)
      return result
    },
  })
}

/** The conversations of an agent, which may run for several threads at once. */
class Threads {
  readonly #options: HeddleOptions
  readonly #availability: Availability
  readonly #threads = new Map<string, { conversation: Conversation; contextId: string | undefined }>()

  constructor(options: HeddleOptions) {
    this.#options = options
    this.#availability = new Availability(options, CONSEQUENCE)
  }

  of(run: RunConfiguration) {
    const name = threadOf(this.#options, run)
    const thread = this.#threads.get(name) ?? {
      conversation: new Conversation({ ...this.#options, thread: name }, this.#availability),
      contextId: undefined,
    }
    this.#threads.delete(name)
    this.#threads.set(name, thread)
    for (const oldest of this.#threads.keys()) {
      if (this.#threads.size <= CONVERSATIONS_MAX) break
      this.#threads.delete(oldest)
    }
    return thread
  }
}

function draftsOf(messages: readonly BaseMessage[]): MessageDraft[] {
  return messages.map(draftOf).filter((draft) => draft !== null)
}

function isEmpty({ content, toolCalls }: MessageDraft): boolean {
  return content.trim() === '' && toolCalls === undefined
}
