import type {
  IncludeMode,
  ItemKey,
  ItemStats,
  NewItem,
  RequestItem,
  SelectionOptions,
  ServerTool,
} from '@heddle/contracts'
import type { ClientParts, Page } from '../setup/options.js'
import { type ItemStatsOptions, itemStats } from './item-stats.js'
import { type SyncedTools, type SyncOptions, syncServerTools } from './item-sync.js'
import {
  type AgentItem,
  getItem,
  type ListItemsOptions,
  listAgentItems,
  putItem,
  removeItem,
  setToolServer,
  type ThreadsWithout,
} from './items.js'
import { searchContextItems } from './search-context-items.js'
import { addThreadItem, listThreadItems, removeThreadItem, type ThreadItemEntry } from './thread-items.js'

export interface ItemsClient {
  put(agent: string, item: NewItem): Promise<AgentItem & ThreadsWithout>
  /** @param options `version`: an older one, as a receipt names it; also of an item that was taken away */
  get(agent: string, key: ItemKey, options?: { version?: number }): Promise<AgentItem>
  list(agent: string, options?: ListItemsOptions): Promise<Page<AgentItem>>
  /** Takes it away: the next context does not show it. */
  remove(agent: string, key: ItemKey): Promise<AgentItem>
  /** The mode of the tools of an MCP server that have none of their own. */
  setServer(
    agent: string,
    server: string,
    body: { include: IncludeMode },
  ): Promise<{ readonly serverName: string; readonly include: IncludeMode }>
  /** Puts what an MCP server lists in place of the tools that the agent has of it. */
  sync(agent: string, server: string, tools: readonly ServerTool[], options?: SyncOptions): Promise<SyncedTools>
  /**
   * Those of some items of an agent that a query is about, whatever their modes are (docs/items.md); what has no vectors yet is
   * embedded first. A context does this by itself: this tries it out.
   */
  searchContextItems(
    agent: string,
    query: string,
    items: readonly ItemKey[],
    options?: SelectionOptions,
  ): Promise<RequestItem[]>
  /** How often contexts showed the items of an agent, at what cost, and whether replies used them. */
  stats(agent: string, options?: ItemStatsOptions): Promise<ItemStats>
  listOfThread(thread: string): Promise<ThreadItemEntry[]>
  /** Adds an item to a thread by hand; gives whether the thread did not hold it before. */
  addToThread(thread: string, key: ItemKey): Promise<boolean>
  removeFromThread(thread: string, key: ItemKey): Promise<void>
}

export function itemsClient(parts: ClientParts): ItemsClient {
  return {
    put: (agent, item) => putItem(parts, agent, item),
    get: (agent, key, options) => getItem(parts, agent, key, options),
    list: (agent, options) => listAgentItems(parts, agent, options),
    remove: (agent, key) => removeItem(parts, agent, key),
    setServer: (agent, server, body) => setToolServer(parts, agent, server, body),
    sync: (agent, server, tools, options) => syncServerTools(parts, agent, server, tools, options),
    searchContextItems: (agent, query, items, options) => searchContextItems(parts, agent, query, items, options),
    stats: (agent, options) => itemStats(parts, agent, options),
    listOfThread: (thread) => listThreadItems(parts, thread),
    addToThread: (thread, key) => addThreadItem(parts, thread, key),
    removeFromThread: (thread, key) => removeThreadItem(parts, thread, key),
  }
}
