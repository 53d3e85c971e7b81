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
import { itemIdOf, requestItem, selectedItems } from '@heddle/core'
import { loadAgent, loadAgentItems, relevantItems } from '@heddle/store'
import { z } from 'zod'
import type { EngineContext } from '../setup/options.js'

const querySchema = z.string().min(1).max(limits.messageCharactersMax)
const itemsSchema = z.array(itemKeySchema).max(limits.itemsPerAgentMax)

/**
 * Search (docs/items.md#selection): of some items of an agent those that a query is about, with their scores, the best first. Names that
 * the agent has no item for are passed over.
 *
 * @param options over the agent's settings `search.*`
 * @throws PermanentError `VALIDATION_ERROR`, `NOT_FOUND` without the agent; RetryableError `SERVICE_UNAVAILABLE` where this
 *   client has no embedder; whatever the embedder throws
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
      hint: 'give createClient an `embedder`, or let `heddle doctor` say why there is none',
    })
  const { own, limits: selection } = await store.inProject(projectId, async (tx) => {
    const found = await loadAgent(tx, { name })
    if (!found) throw notFound('agent', name, 'see `heddle agents list`')
    const wanted = new Set(keys.map((key) => itemIdOf(found.agentId, key)))
    // A tool may be named without its server: then those of all servers are meant.
    const tools = new Set(keys.flatMap(({ type, name, serverName }) => (type === 'tool' && !serverName ? [name] : [])))
    const all = await loadAgentItems(tx, found)
    return {
      own: all.filter(({ itemId, type, name }) => wanted.has(itemId) || (type === 'tool' && tools.has(name))),
      limits: mergeSettings(settings, found.settings, { search }).search,
    }
  })
  const found = await relevantItems({ store, embedder: opened, projectId, items: own, query: asked, limits: selection })
  return selectedItems(found).map(requestItem)
}
