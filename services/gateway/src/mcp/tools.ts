import { randomUUID } from 'node:crypto'
import type { RemoteAppendOptions, RemoteClient } from '@heddle/client/http'
import type { BuildRequest } from '@heddle/client/interface'
import {
  type ContextResult,
  type McpToolContract,
  type McpToolName,
  mcpTools,
  type Operation,
  operations,
  type Permission,
  parse,
  validationError,
} from '@heddle/contracts'
import type { NewShare } from '@heddle/queue'
import type { z } from 'zod'
import { checkPermission } from '../admission/access.js'
import { readableBy } from '../handlers/compressed.js'
import { blockIn } from './block-of-call.js'
import { placeOf, recallIn } from './session.js'
import type { ToolDeps } from './tool-deps.js'
import { whyIn } from './why.js'

type ListedThread = Awaited<ReturnType<RemoteClient['threads']['list']>>['items'][number]
type Input<Name extends McpToolName> = z.output<(typeof mcpTools)[Name]['input']>
type Run<Name extends McpToolName> = (input: Input<Name>, deps: ToolDeps) => Promise<object>

const runs: { readonly [Name in McpToolName]: Run<Name> } = {
  recall: (input, { client, session }) => recallIn(session, input, client),
  search: (input, { client }) => client.search(input),
  archive({ query, cursor, ...selection }, { client }) {
    if (query === undefined) return client.archive.list({ ...selection, cursor })
    return client.archive.search({ ...selection, query }).then(({ items }) => ({ items, nextCursor: null }))
  },
  async pin({ ref, thread, until, remove }, deps) {
    const place = await placeOf({ ref, thread }, deps)
    return remove === true ? await deps.client.pins.remove(place) : await deps.client.pins.set({ ...place, until })
  },
  erase_message: async ({ ref, thread }, deps) => {
    const { signal } = deps
    return await deps.client.messages.erase(await placeOf({ ref, thread }, deps), { signal })
  },
  compress: async (input, { client, rights, signal }) =>
    readableBy(rights, await client.contexts.compress({ ...input, signal })),
  uncompact: async ({ ref, thread, redo }, deps) =>
    await deps.client.contexts.uncompact({ ...(await placeOf({ ref, thread }, deps)), redo }),
  async summaries({ thread: given, summary, ...page }, { client, session }) {
    const thread = given ?? session.thread
    if (thread === undefined) throw validationError('thread', 'is needed: no call has named a thread yet', 'nothing')
    return summary === undefined
      ? await client.summaries.list({ ...page, thread })
      : await client.summaries.messages({ ...page, thread, summary })
  },
  facts: ({ agent, ...listing }, { client }) => client.facts.list(agent, listing),
  put_fact: ({ agent, ...body }, { client }) => client.facts.put(agent, randomUUID(), body),
  retract_fact: ({ agent, id }, { client }) => client.facts.retract(agent, id),
  why: whyIn,
  build_context: async (input, { client, signal }) =>
    toBuilt(await client.contexts.build({ ...input, references: 'full' }, { signal, onBusy: 'fail' })),
  async list_threads({ agent, ...page }, { client }) {
    // A missing agent is an error, unlike an agent without threads.
    if (agent !== undefined) await client.agents.get(agent)
    const { items, nextCursor } = await client.threads.list({ ...page, agent })
    return { items: items.map(toListedThread), nextCursor }
  },
  history: (input, { client }) => pageWithin(input, (page) => listHistory(page, client)),
  async append_messages({ context, ...input }, { client, rights, signal }) {
    // The client parses messages by their format.
    const append = input as RemoteAppendOptions
    if (context === undefined) return await client.messages.append({ ...append, onBusy: 'fail', signal })
    checkPermission(rights, 'read')
    const { agent, thread, format: appendFormat, messages } = append
    const request = { ...context, references: 'full', agent, thread, append: messages, appendFormat } as BuildRequest
    const { appended, ...built } = await client.contexts.build<BuildRequest>(request, { signal, onBusy: 'fail' })
    return { ...appended, context: toBuilt(built) }
  },
  memory_blocks: async ({ thread, agent }, { client, session }) =>
    await client.blocks.list({ thread: thread ?? (agent === undefined ? session.thread : undefined), agent }),
  async memory_insert(input, deps) {
    const { key, change } = await blockIn(input, deps)
    return await deps.client.blocks.insert(key, change)
  },
  async memory_replace(input, deps) {
    const { key, change } = await blockIn(input, deps)
    return await deps.client.blocks.replace(key, change)
  },
  async memory_rethink(input, deps) {
    const { key, change } = await blockIn(input, deps)
    return await deps.client.blocks.rethink(key, change)
  },
  save_snapshot: (input, { client, signal }) => client.snapshots.save(input, { signal }),
  list_snapshots: ({ agent, ...page }, { client }) => client.snapshots.history(agent, page),
  restore_snapshot: ({ id }, { client, signal }) => client.snapshots.restore(id, { signal }),
  clear_context: ({ agent, clearedAt }, { client }) =>
    client.agents.clear(agent, clearedAt === undefined ? {} : { clearedAt }),
}

function toBuilt({ receipt, ...built }: ContextResult) {
  const { id, tokensUsed, budget, summaryUsed, strategy, format, settings, turns, messages } = built
  return { id, tokensUsed, budget, summaryUsed, strategy, format, settings, turns, messages, notes: receipt.notes }
}

async function listHistory({ thread, agent, sourceId, order, ...page }: Input<'history'>, { messages }: RemoteClient) {
  if (sourceId !== undefined) return await messages.find({ sourceId, thread, agent, ...page })
  if (thread === undefined && agent !== undefined) return await messages.ofAgent({ agent, order, ...page })
  if (thread !== undefined && agent === undefined) return await messages.list({ thread, order, ...page })
  throw validationError('thread', 'or agent is needed, and not both; with sourceId each narrows the search', thread)
}

/** An answer over MCP contains its data twice, as text and as structured content. */
const PAGE_CHARACTERS_MAX = 2_000_000

/** A page with as many messages as the limit allows, and at least one; a page that was too large is read again, for its cursor. */
async function pageWithin<Listing extends { readonly limit: number }>(
  input: Listing,
  list: (input: Listing) => ReturnType<RemoteClient['messages']['list']>,
) {
  const page = await list(input)
  let characters = 0
  const fitting = page.items.findIndex((message) => {
    characters += JSON.stringify(message).length
    return characters > PAGE_CHARACTERS_MAX
  })
  return fitting === -1 ? page : await list({ ...input, limit: Math.max(1, fitting) })
}

/** A short form of each thread: a page with all fields would fill a model's window. */
function toListedThread({ name, agent, title, status, messages, lastMessageAt }: ListedThread) {
  return { thread: name, agent, title, status, messages, lastMessageAt }
}

export interface Tool extends McpToolContract {
  readonly name: McpToolName
  readonly needs: Permission
  /** Stage whose workers do it, unless this process does. */
  readonly stage?: NewShare['stage']
  /** @throws HeddleError refusals of the client or of the tool's own schema */
  call(given: unknown, deps: ToolDeps): Promise<object>
}

export const tools: readonly Tool[] = (Object.keys(mcpTools) as McpToolName[]).map((name) => {
  const contract: McpToolContract = mcpTools[name]
  const run = runs[name] as (input: unknown, deps: ToolDeps) => Promise<object>
  const { needs, stage }: Operation = operations[contract.operation]
  return {
    name,
    ...contract,
    needs,
    stage,
    async call(given, deps) {
      const input = parse(contract.input, underNewNames(given), name)
      const result = await run(input, deps)
      if (typeof input['thread'] === 'string') deps.session.thread = input['thread']
      return result
    },
  }
})

/** Maps the former field `after` to `cursor`. */
function underNewNames(given: unknown): unknown {
  if (typeof given !== 'object' || given === null || !('after' in given) || 'cursor' in given) return given
  const { after: cursor, ...rest } = given
  return { ...rest, cursor }
}
