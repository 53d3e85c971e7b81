import type { Page, PageOptions, ShareBlock } from '@heddle/client/interface'
import {
  type AgentBlockKey,
  agentParamsSchema,
  type BlockGrant,
  blockGrantBodySchema,
  blockGrantsParamsSchema,
  limits,
  nameSchema,
  notFound,
  parse,
  validationError,
} from '@heddle/contracts'
import { agentIdOf } from '@heddle/core'
import {
  type BlockGrantRef,
  type BlockGrantRow,
  countBlockGrants,
  holdBlockOwner,
  insertBlockGrant,
  listBlockGrants,
  listBlockGrantsOfAgent,
  loadBlock,
  loadBlockGrant,
  lockBlock,
  type Tx,
} from '@heddle/store'
import { loadAgentOr } from '../items/items.js'
import { type CursorList, cursorOf, placeAt } from '../setup/cursors.js'
import { isoTime } from '../setup/iso-time.js'
import { checkPageLimit, type EngineContext } from '../setup/options.js'
import { blockNotFound, ownerNotFound, type ReadKey, readBlockKey } from './block-keys.js'

/**
 * Shares a block of an agent with another agent of the project, or changes the mode in which it is shared. The same grant again
 * changes nothing.
 *
 * @throws PermanentError `NOT_FOUND` without the block or an agent; `VALIDATION_ERROR` for a block of a thread or the project
 */
export async function grantBlock(
  { store, projectId }: EngineContext,
  given: AgentBlockKey,
  { to, ...body }: ShareBlock,
): Promise<BlockGrant> {
  const key = readOwnKey(projectId, given)
  const { mode } = parse(blockGrantBodySchema, body, 'grant')
  const grant = granted(projectId, key, to)
  return await store.inProject(projectId, async (tx) => {
    if (!(await holdBlockOwner(tx, key.ref))) throw ownerNotFound(key)
    const isHeld = await holdBlockOwner(tx, { scope: 'agent', ownerId: grant.granteeAgentId })
    if (!isHeld) throw notFound('agent', to, 'see `heddle agents list`')
    const block = await lockBlock(tx, key.ref)
    if (block === null || block.removed) throw blockNotFound(key)
    const latest = await loadBlockGrant(tx, grant)
    if (latest?.mode === mode) return toGrant(key, to, latest)
    if (latest === null) await refuseTooMany(tx, grant, to)
    return toGrant(key, to, await insertBlockGrant(tx, grant, { version: (latest?.version ?? 0) + 1, mode }))
  })
}

/**
 * Shares a block with another agent no longer. Again, it returns the grant as it was revoked.
 *
 * @throws PermanentError `NOT_FOUND` for a block that was never shared with the agent
 */
export async function revokeBlockGrant(
  { store, projectId }: EngineContext,
  given: AgentBlockKey,
  { to }: Pick<ShareBlock, 'to'>,
): Promise<BlockGrant> {
  const key = readOwnKey(projectId, given)
  const grant = granted(projectId, key, to)
  return await store.inProject(projectId, async (tx) => {
    const isHeld = await holdBlockOwner(tx, { scope: 'agent', ownerId: grant.granteeAgentId })
    const block = await lockBlock(tx, key.ref)
    if (block === null) throw blockNotFound(key)
    // Its erasure ends its grants.
    if (!isHeld) throw notFound('grant', to, 'see `heddle memory blocks grants`')
    const latest = await loadBlockGrant(tx, grant)
    if (latest === null) throw notFound('grant', to, 'see `heddle memory blocks grants`')
    if (latest.mode === null) return toGrant(key, to, latest)
    return toGrant(key, to, await insertBlockGrant(tx, grant, { version: latest.version + 1, mode: null }))
  })
}

/** The agents that a block is shared with, by name. @throws PermanentError `NOT_FOUND` */
export async function listBlockGrantsOf(
  { store, projectId }: EngineContext,
  given: AgentBlockKey,
): Promise<Page<BlockGrant>> {
  const key = readOwnKey(projectId, given)
  const grants = await store.inProject(projectId, async (tx) => {
    if ((await loadBlock(tx, key.ref)) === null) throw blockNotFound(key)
    return await listBlockGrants(tx, key.ref)
  })
  return { items: grants.map(({ to, ...grant }) => toGrant(key, to, grant)), nextCursor: null }
}

/** Owner, label and other agent: none of them has control characters. */
const PLACE = /^([^\t]+)\t([^\t]+)\t([^\t]+)$/

/** The grants that an agent gave and has, by owner, label and other agent. @throws PermanentError `NOT_FOUND` */
export async function listBlockGrantsOfOne(
  { store, projectId }: EngineContext,
  name: string,
  { limit = 100, ...page }: PageOptions = {},
): Promise<Page<BlockGrant>> {
  checkPageLimit(limit)
  const { agent } = parse(agentParamsSchema, { agent: name }, 'agent')
  const [grants, list] = await store.inProject(projectId, async (tx) => {
    const { agentId } = await loadAgentOr(tx, agent)
    const of: CursorList = { kind: 'block-grants', ownerId: agentId }
    const [, owner = '', label = '', to = ''] = placeAt(of, page, PLACE) ?? []
    const after = owner === '' ? undefined : { owner, label, to }
    return [await listBlockGrantsOfAgent(tx, { agentId, after, limit: limit + 1 }), of] as const
  })
  const shown = grants.slice(0, limit)
  const last = grants.length > limit ? shown.at(-1) : undefined
  return {
    items: shown.map(({ owner, label, to, mode, createdAtMs }) => ({
      ...{ owner, label, to, mode },
      changedAt: isoTime(createdAtMs),
    })),
    nextCursor: last === undefined ? null : cursorOf(list, `${last.owner}\t${last.label}\t${last.to}`),
  }
}

/** A block of an agent, named by its owner. */
function readOwnKey(projectId: string, { scope, label, owner }: AgentBlockKey): ReadKey {
  return readBlockKey(projectId, { ...parse(blockGrantsParamsSchema, { scope, label }, 'block'), owner })
}

function granted(projectId: string, { ref, owner }: ReadKey, to: string): BlockGrantRef {
  const grantee = parse(nameSchema, to, 'to')
  if (grantee === owner) throw validationError('to', 'must be another agent', grantee)
  return { ownerId: ref.ownerId, label: ref.label, granteeAgentId: agentIdOf(projectId, grantee) }
}

function toGrant({ ref, owner }: ReadKey, to: string, { mode, createdAtMs }: BlockGrantRow): BlockGrant {
  return { owner: owner ?? '', label: ref.label, to, mode, changedAt: isoTime(createdAtMs) }
}

async function refuseTooMany(tx: Tx, grant: BlockGrantRef, to: string): Promise<void> {
  const { ofBlock, toAgent } = await countBlockGrants(tx, grant)
  if (Math.max(ofBlock, toAgent) < limits.blockGrantsMax) return
  const rule = `a block may be shared with ${limits.blockGrantsMax} agents, and as many blocks with an agent, revoked grants included`
  throw validationError('to', rule, to, 'Make it a block of the project, which all agents see.')
}
