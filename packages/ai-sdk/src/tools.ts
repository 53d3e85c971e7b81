import { agentTools } from '@heddle/client/adapters'
import type { HeddleOptions } from './options.js'

/**
 * Tools for `generateText` and agents: `recall` returns the whole text behind a reference in a context, `search` finds earlier
 * messages of the agent. A fault of Heddle is their result, so the model goes on.
 */
export function heddleTools(options: Pick<HeddleOptions, 'client' | 'url' | 'key' | 'agent' | 'thread'>) {
  const { recall, search } = agentTools(options)
  return {
    recall: { description: recall.description, inputSchema: recall.input, execute: recall.call },
    search: { description: search.description, inputSchema: search.input, execute: search.call },
  }
}
