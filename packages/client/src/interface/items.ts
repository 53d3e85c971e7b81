import type {
  AgentItem,
  IncludeMode,
  ItemKey,
  ItemStats,
  ItemType,
  NewItem,
  PutItem,
  RequestItem,
  SelectionOptions,
  ServerTool,
  SyncedTools,
  ThreadItemEntry,
  ToolServer,
} from '@heddle/contracts'
import type { Page, PageOptions } from './pages.js'

export interface ItemStatsOptions {
  /** A duration such as `7d`, or a time. Default: as long as figures are stored. */
  readonly since?: string
}

export interface SyncOptions {
  /** The mode of tools without a mode of their own, from now on. Default: unchanged, initially `always`. */
  readonly include?: IncludeMode
}

export interface ItemsClient {
  put(agent: string, item: NewItem): Promise<PutItem>
  /** @param options `version`: an older one, as named in a receipt; also for a removed item */
  get(agent: string, key: ItemKey, options?: { version?: number }): Promise<AgentItem>
  list(agent: string, options?: ListItemsOptions): Promise<Page<AgentItem>>
  /** Removes it: the next context does not show it. */
  remove(agent: string, key: ItemKey): Promise<AgentItem>
  /** The mode of the tools of an MCP server without a mode of their own. */
  setServer(agent: string, server: string, body: { include: IncludeMode }): Promise<ToolServer>
  /** Replaces the agent's tools of an MCP server by the server's list. */
  sync(agent: string, server: string, tools: readonly ServerTool[], options?: SyncOptions): Promise<SyncedTools>
  /**
   * Those of some items of an agent that are related to a query, whatever their modes are (docs/items.md); items
   * without vectors are embedded first. Contexts select items by themselves: this is a trial.
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
  /** Adds an item to a thread by hand; returns whether it was not there before. */
  addToThread(thread: string, key: ItemKey): Promise<boolean>
  removeFromThread(thread: string, key: ItemKey): Promise<void>
}

export interface ListItemsOptions extends PageOptions {
  readonly type?: ItemType
  readonly serverName?: string
}
