import { type AgentToolsOptions, agentTools } from '@heddle/client/adapters'
import { tool } from '@langchain/core/tools'

/**
 * Tools for agents: `recall` returns the whole text behind a reference in a context, `search` finds earlier messages of the
 * agent. A fault of Heddle is their result, so the model goes on.
 */
export function heddleTools(options: AgentToolsOptions) {
  const { recall, search } = agentTools(options)
  return [
    tool(async (input) => JSON.stringify(await recall.call(input)), {
      name: 'recall',
      description: recall.description,
      schema: recall.input,
    }),
    tool(async (input) => JSON.stringify(await search.call(input)), {
      name: 'search',
      description: search.description,
      schema: search.input,
    }),
  ] as const
}
