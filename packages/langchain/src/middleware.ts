import { Availability, BUDGET_DEFAULT, Conversation, RecentThreads } from '@heddle/client/adapters'
import type { MessageDraft } from '@heddle/client/forms'
import { AIMessage, type BaseMessage, SystemMessage, ToolMessage } from '@langchain/core/messages'
import { createMiddleware } from 'langchain'
import { v7 } from 'uuid'
import { assembledMessages, splitInstructions } from './assembled.js'
import { draftOf } from './drafts.js'
import { type HeddleOptions, type RunConfiguration, threadOf } from './options.js'
import { budgetBeside } from './overhead.js'

const CONSEQUENCE = 'The model gets its messages as they are, until Heddle is back.'

/**
 * A middleware for agents of LangChain: stores the messages of a run in a thread, and gives the model a context of it
 * within a budget, beside the instructions and tools. The state of the agent stays as it is.
 */
export function heddleMiddleware(options: HeddleOptions) {
  const threadIn = conversationsOf(options)
  return createMiddleware({
    name: 'HeddleMiddleware',
    beforeModel: async ({ messages }, runtime) => {
      await threadIn(runtime).conversation.store(draftsOf(messages), { newAgentRollingWindow: null })
    },
    wrapModelCall: async (request, handler) => {
      const thread = threadIn(request.runtime)
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
      const thread = threadIn(runtime)
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
      if (draft !== null) await threadIn(request.runtime).conversation.add(draft)
      return result
    },
  })
}

/** @returns the conversation of a run, and the context that its next reply answers */
function conversationsOf(options: HeddleOptions) {
  const availability = new Availability(options, CONSEQUENCE)
  const threads = new RecentThreads((thread): { conversation: Conversation; contextId: string | undefined } => ({
    conversation: new Conversation({ ...options, thread }, availability),
    contextId: undefined,
  }))
  return (run: RunConfiguration) => threads.of(threadOf(options, run))
}

function draftsOf(messages: readonly BaseMessage[]): MessageDraft[] {
  return messages.map(draftOf).filter((draft) => draft !== null)
}

function isEmpty({ content, toolCalls }: MessageDraft): boolean {
  return content.trim() === '' && toolCalls === undefined
}
