import { z } from 'zod'
import { type AdapterOptions, clientOf } from './options.js'

export interface AgentToolsOptions extends Pick<AdapterOptions, 'client' | 'url' | 'key'> {
  readonly agent: string
  /** Whose references are recalled. Default: references have to be whole. */
  readonly thread?: string | undefined
}

const recallInput = z.object({
  ref: z.string().describe('The reference, such as msg-1a2b3c4d'),
  lines: z.string().optional().describe('Lines, such as 10-50'),
  search: z.string().optional().describe('Only lines with this text'),
})

const searchInput = z.object({
  query: z.string().describe('Words, or a question'),
  limit: z.int().min(1).max(20).optional(),
})

/**
 * The tools that an adapter offers to agents, in the form of no framework: `recall` returns the whole text behind a reference
 * in a context, `search` finds earlier messages of the agent. A fault of Heddle is their result, so the model goes on.
 */
export function agentTools(options: AgentToolsOptions) {
  const client = clientOf(options)
  const { agent, thread } = options
  return {
    recall: {
      description:
        'Returns the whole text behind a reference such as msg-1a2b3c4d, from an earlier part of this conversation.',
      input: recallInput,
      call: (input: z.infer<typeof recallInput>) =>
        orFault(async () => {
          const { content, truncated, linesTotal } = await client.recall({
            ...input,
            ...(thread !== undefined && { thread }),
          })
          return { content, truncated, linesTotal }
        }),
    },
    search: {
      description: 'Finds earlier messages by words and meaning, each with a reference that recall takes.',
      input: searchInput,
      call: ({ query, limit = 5 }: z.infer<typeof searchInput>) =>
        orFault(async () => {
          const { items } = await client.search({ query, agent, limit })
          return items.map(({ ref, text, score }) => ({ ref, text, score }))
        }),
    },
  }
}

async function orFault<Result>(work: () => Promise<Result>): Promise<Result | { error: string }> {
  try {
    return await work()
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) }
  }
}
