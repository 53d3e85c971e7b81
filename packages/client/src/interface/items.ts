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
  /** How long ago, such as `7d`, or a time. Default as long as figures are kept. */
  readonly since?: string
}

export interface SyncOptions {
  /** The mode of tools that have none of their own, from now on. Default: as it was, at first `always`. */
  readonly include?: IncludeMode
}

export interface ItemsClient {
  put(agent: string, item: NewItem): Promise<PutItem>
  /** @param options `version`: an older one, as a receipt names it; also of an item that was taken away */
  get(agent: string, key: ItemKey, options?: { version?: number }): Promise<AgentItem>
  list(agent: string, options?: ListItemsOptions): Promise<Page<AgentItem>>
  /** Takes it away: the next context does not show it. */
  remove(agent: string, key: ItemKey): Promise<AgentItem>
  /** The mode of the tools of an MCP server that have none of their own. */
  setServer(agent: string, server: string, body: { include: IncludeMode }): Promise<ToolServer>
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

export interface ListItemsOptions extends PageOptions {
  readonly type?: ItemType
  readonly serverName?: string
}
