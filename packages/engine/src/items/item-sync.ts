import type { SyncedTools, SyncOptions } from '@heddle/client/interface'
import { includeModeSchema, limits, nameSchema, parse, type ServerTool, serverToolSchema } from '@heddle/contracts'
import { type ItemRow, listItems, putItems, putToolServer, removeItems, type Tx } from '@heddle/store'
import { z } from 'zod'
import type { EngineContext } from '../setup/options.js'
import { changeItems, threadsWithout } from './items.js'

const toolsSchema = z
  .array(serverToolSchema)
  .max(limits.toolsPerServerMax, `must be at most ${limits.toolsPerServerMax}`)

/**
 * Replaces an agent's tools of an MCP server by the server's current list, in one transaction: new tools are added, changed
 * ones get a new version, and tools that are missing in the list are removed. Modes that were set by hand stay.
 *
 * @throws PermanentError `VALIDATION_ERROR`
 */
export async function syncServerTools(
  parts: EngineContext,
  agent: string,
  server: string,
  tools: readonly ServerTool[],
  { include }: SyncOptions = {},
): Promise<SyncedTools> {
  const name = parse(nameSchema, agent, 'agent')
  const serverName = parse(nameSchema, server, 'server')
  const listed = parse(toolsSchema, tools, 'tools')
  const mode = include === undefined ? undefined : parse(includeModeSchema, include, 'include')
  return await changeItems(parts, name, async (tx, agentId) => {
    if (mode !== undefined) await putToolServer(tx, { agentId, name: serverName, include: mode })
    const before = new Map((await listAll(tx, agentId, serverName)).map((item) => [item.name, item]))
    // Of tools with one name the last is used, as by a model that gets both.
    const now = new Map(listed.map((tool) => [tool.name, tool]))
    const put = await putItems(tx, {
      agentId,
      items: [...now.values()].map(({ name: tool, description = null, inputSchema = null }) => ({
        type: 'tool',
        serverName,
        name: tool,
        description,
        inputSchema,
      })),
    })
    const gone = [...before.values()].filter((item) => !now.has(item.name))
    await removeItems(tx, { agentId, itemIds: gone.map(({ itemId }) => itemId) })
    const changed = put.filter(({ item, versionBefore }) => versionBefore !== null && versionBefore !== item.version)
    const added = put.filter(({ versionBefore }) => versionBefore === null)
    const missing = await threadsWithout(
      tx,
      agentId,
      put.map(({ item }) => item),
    )
    return {
      serverName,
      added: added.map(({ item }) => item.name),
      changed: changed.map(({ item }) => item.name),
      removed: gone.map((item) => item.name),
      unchanged: put.length - added.length - changed.length,
      ...missing,
    }
  })
}

async function listAll(tx: Tx, agentId: string, serverName: string) {
  const all: ItemRow[] = []
  for (let hasMore = true; hasMore; ) {
    const afterId = all.at(-1)?.itemId
    const page = await listItems(tx, { agentId, type: 'tool', serverName, limit: limits.itemsPerAgentMax, afterId })
    all.push(...page.items)
    hasMore = page.hasMore
  }
  return all
}
