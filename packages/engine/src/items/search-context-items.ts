import {
  type ItemKey,
  itemKeySchema,
  limits,
  mergeSettings,
  nameSchema,
  notFound,
  parse,
  type RequestItem,
  RetryableError,
  type SelectionOptions,
  selectionSchema,
} from '@heddle/contracts'
import { itemIdOf, likeQuery, requestItem, selectedItems } from '@heddle/core'
import { loadAgent, loadAgentItems, relevantItems } from '@heddle/store'
import { z } from 'zod'
import type { EngineContext } from '../setup/options.js'

const querySchema = z.string().min(1).max(limits.messageCharactersMax)
const itemsSchema = z.array(itemKeySchema).max(limits.itemsPerAgentMax)

/**
 * Finds those of the given items of an agent that match a query (docs/items.md#selection), with their scores, best first.
 * Unknown names are ignored.
 *
 * @param options override the agent's settings `search.*`
 * @throws PermanentError `VALIDATION_ERROR`, `NOT_FOUND` without the agent; RetryableError `SERVICE_UNAVAILABLE` if this
 *   client has no embedder; errors of the embedder
 */
export async function searchContextItems(
  { store, projectId, settings, embedder }: EngineContext,
  agent: string,
  query: string,
  items: readonly ItemKey[],
  options: SelectionOptions = {},
): Promise<RequestItem[]> {
  const name = parse(nameSchema, agent, 'agent')
  const asked = parse(querySchema, query, 'query')
  const keys = parse(itemsSchema, items, 'items')
  const search = parse(selectionSchema, options, 'options')
  const opened = embedder === null ? null : await embedder()
  if (opened === null)
    throw new RetryableError('SERVICE_UNAVAILABLE', 'this client has no embedder', {
      hint: 'give createClient an `embedder`; `heddle doctor` shows why none is available',
    })
  const { own, limits: selection } = await store.inProject(projectId, async (tx) => {
    const found = await loadAgent(tx, { name })
    if (!found) throw notFound('agent', name, 'see `heddle agents list`')
    const wanted = new Set(keys.map((key) => itemIdOf(found.agentId, key)))
    // A tool without a server means the tools of all servers.
    const tools = new Set(keys.flatMap(({ type, name, serverName }) => (type === 'tool' && !serverName ? [name] : [])))
    const all = await loadAgentItems(tx, found)
    return {
      own: all.filter(({ itemId, type, name }) => wanted.has(itemId) || (type === 'tool' && tools.has(name))),
      limits: mergeSettings(settings, found.settings, { search }).search,
    }
  })
  const found = await relevantItems({
    store,
    embedder: opened,
    projectId,
    items: own,
    query: likeQuery(asked),
    limits: selection,
  })
  return selectedItems(found).map(requestItem)
}
