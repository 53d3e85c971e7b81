import type { ItemsClient } from '@heddle/client/interface'
import type { EngineContext } from '../setup/options.js'
import { itemStats } from './item-stats.js'
import { syncServerTools } from './item-sync.js'
import { getItem, listAgentItems, putItem, removeItem, setToolServer } from './items.js'
import { searchContextItems } from './search-context-items.js'
import { addThreadItem, listThreadItems, removeThreadItem } from './thread-items.js'

export function itemsClient(parts: EngineContext): ItemsClient {
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
