import type { ListBlocksOptions, Page, PageOptions } from '@heddle/client/interface'
import { type BlockKey, blocksQuerySchema, type MemoryBlock, parse } from '@heddle/contracts'
import { type BlockOwners, listBlocks, listBlockVersions, loadBlock, type Tx } from '@heddle/store'
import { loadAgentOr } from '../items/items.js'
import { findThread } from '../items/thread-items.js'
import { type CursorList, cursorOf, placeAt } from '../setup/cursors.js'
import { checkPageLimit, type EngineContext } from '../setup/options.js'
import { blockNotFound, loadView, readBlockKey, toBlock } from './block-keys.js'

/**
 * @param options `version`: an older one, also of a removed block
 * @throws PermanentError `NOT_FOUND`
 */
export async function getBlock(
  { store, projectId }: EngineContext,
  given: BlockKey,
  { version }: { readonly version?: number | undefined } = {},
): Promise<MemoryBlock> {
  const key = readBlockKey(projectId, given)
  return await store.inProject(projectId, async (tx) => {
    // The text first: an owner who revokes and then changes it must not be read by the grant of before.
    const [row, view] = await Promise.all([loadBlock(tx, { ...key.ref, version }), loadView(tx, key)])
    if (row === null || (version === undefined && row.removed)) throw blockNotFound(key)
    return toBlock(view, row)
  })
}

/** The position in a history is a version. */
const PLACE = /^[1-9]\d{0,9}$/

/**
 * The versions of a block, the newest first.
 *
 * @throws PermanentError `NOT_FOUND`
 */
export async function blockHistory(
  { store, projectId }: EngineContext,
  given: BlockKey,
  { limit = 100, ...page }: PageOptions = {},
): Promise<Page<MemoryBlock>> {
  checkPageLimit(limit)
  const key = readBlockKey(projectId, given)
  const list: CursorList = { kind: 'blocks', ownerId: `${key.ref.ownerId} ${key.ref.label}` }
  const [place] = placeAt(list, page, PLACE) ?? []
  const before = place === undefined ? undefined : Number(place)
  // In this order, as in getBlock.
  const [rows, view] = await store.inProject(projectId, (tx) =>
    Promise.all([listBlockVersions(tx, { ...key.ref, before, limit }), loadView(tx, key)]),
  )
  const last = rows.at(-1)
  if (last === undefined && before === undefined) throw blockNotFound(key)
  const isLast = last === undefined || rows.length < limit || last.version === 1
  return {
    items: rows.map((row) => toBlock(view, row)),
    nextCursor: isLast ? null : cursorOf(list, String(last.version)),
  }
}

/**
 * The blocks that contexts of a thread, an agent or the project show, in their order.
 *
 * @throws PermanentError `NOT_FOUND`
 */
export async function listBlocksOf(
  { store, projectId }: EngineContext,
  options: ListBlocksOptions = {},
): Promise<Page<MemoryBlock>> {
  const query = parse(blocksQuerySchema, options, 'options')
  const items = await store.inProject(projectId, async (tx) => {
    const { thread, agent, ...owners } = await ownersOf(tx, projectId, query)
    const names = { project: null, agent: agent ?? null, thread: thread ?? null }
    const blocks = await listBlocks(tx, owners)
    return blocks.map((block) =>
      toBlock({ scope: block.scope, owner: names[block.scope], shared: block.shared }, block),
    )
  })
  return { items, nextCursor: null }
}

async function ownersOf(
  tx: Tx,
  projectId: string,
  { thread, agent }: ListBlocksOptions,
): Promise<BlockOwners & ListBlocksOptions> {
  if (thread !== undefined) {
    const { threadId, agentId, agentName } = await findThread(tx, projectId, thread)
    return { threadId, agentId, thread, agent: agentName }
  }
  if (agent === undefined) return { threadId: null, agentId: null }
  const { agentId } = await loadAgentOr(tx, agent)
  return { threadId: null, agentId, agent }
}
