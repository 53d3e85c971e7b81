import type {
  IncludeMode,
  ItemKey,
  ItemStats,
  ItemType,
  JsonObject,
  NewItem,
  RequestItem,
  SelectionOptions,
  ServerTool,
} from '@heddle/contracts'
import type { Page, PageOptions } from './pages.js'

export interface ItemStatsOptions {
  /** How long ago, such as `7d`, or a time. Default as long as figures are kept. */
  readonly since?: string
}

/** What became of the tools of a server. */
export interface SyncedTools extends ThreadsWithout {
  readonly serverName: string
  readonly added: readonly string[]
  readonly changed: readonly string[]
  /** Those that the server has no longer. */
  readonly removed: readonly string[]
  readonly unchanged: number
}

export interface SyncOptions {
  /** The mode of tools that have none of their own, from now on. Default: as it was, at first `always`. */
  readonly include?: IncludeMode
}

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

/** A rule, a reference or a tool of an agent, in one version. */
export interface AgentItem extends ItemKey {
  readonly itemId: string
  /** Each change is a version of its own; receipts name it. */
  readonly version: number
  readonly description: string | null
  readonly text: string
  readonly inputSchema: JsonObject | null
  /** What the item itself says; null leaves it to a tool's server, and else means `always`. */
  readonly include: IncludeMode | null
  /** The mode in force. */
  readonly includeMode: IncludeMode
  readonly priorityLevel: number | null
  /** Only in an old version: whether it is the one with which the item was taken away. */
  readonly erased: boolean
  readonly updatedAt: string
}

/** Who does not have an item that comes with each thread which starts: what was just put tells. */
export interface ThreadsWithout {
  /**
   * Threads that began before, and get it only when it is added to them by hand: 20 names at most, the newest first. Empty
   * unless the mode in force is `always`.
   */
  readonly threadsWithout: readonly string[]
}

export interface ListItemsOptions extends PageOptions {
  readonly type?: ItemType
  readonly serverName?: string
}

/** An item that a thread holds: every context of the thread shows it, as it is by then. */
export interface ThreadItemEntry extends Omit<AgentItem, 'includeMode' | 'erased'> {
  /** How it came to the thread: when it started, or by hand (docs/items.md). */
  readonly includeMode: 'always' | 'manual'
}
