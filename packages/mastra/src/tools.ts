import { type AgentToolsOptions, agentTools } from '@heddle/client/adapters'

/**
 * Tools for agents: `recall` returns the whole text behind a reference in a context, `search` finds earlier messages of the
 * agent. A fault of Heddle is their result, so the model goes on. Mastra accepts tools in this form of the AI SDK.
 */
export function heddleTools(options: AgentToolsOptions) {
  const { recall, search } = agentTools(options)
  return {
    recall: { description: recall.description, inputSchema: recall.input, execute: recall.call },
    search: { description: search.description, inputSchema: search.input, execute: search.call },
  }
}
