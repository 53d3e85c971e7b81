import {
  type BlockKey,
  blockKeySchema,
  type MemoryBlock,
  notFound,
  parse,
  readBlockName,
  sharedBlockName,
  validationError,
} from '@heddle/contracts'
import { agentIdOf, threadIdOf } from '@heddle/core'
import { type BlockGrantRef, type BlockRef, type BlockRow, loadGrantedMode, type Tx } from '@heddle/store'
import { isoTime } from '../setup/iso-time.js'

/** A block by name and by id. */
export interface ReadKey {
  readonly ref: BlockRef
  /** Null for a block of the project. */
  readonly owner: string | null
  /** The grant by which the owner here sees the block `ref` of another agent; null for a block of its own. */
  readonly share: BlockShare | null
}

export interface BlockShare {
  /** The name of the agent whose block it is. */
  readonly by: string
  readonly ref: BlockGrantRef
}

/** @throws PermanentError `VALIDATION_ERROR`, also for an owner that the scope does not have, or lacks */
export function readBlockKey(projectId: string, given: BlockKey): ReadKey {
  const { scope, owner, label: name } = parse(blockKeySchema, given, 'block')
  const { sharedBy, label } = readBlockName(name)
  if (sharedBy !== null && scope !== 'agent')
    throw validationError('label', 'must have no slash: blocks of agents alone are shared', name)
  if (scope === 'project') {
    if (owner !== undefined) throw validationError('owner', 'must be absent for a block of the project', owner)
    return { ref: { scope, ownerId: projectId, label }, owner: null, share: null }
  }
  if (owner === undefined) throw validationError('owner', `must be the name of the ${scope}`, 'nothing')
  if (scope === 'thread') return { ref: { scope, ownerId: threadIdOf(projectId, owner), label }, owner, share: null }
  const agentId = agentIdOf(projectId, owner)
  if (sharedBy === null) return { ref: { scope, ownerId: agentId, label }, owner, share: null }
  const ownerId = agentIdOf(projectId, sharedBy)
  const share = { by: sharedBy, ref: { ownerId, label, granteeAgentId: agentId } }
  return { ref: { scope, ownerId, label }, owner, share }
}

export function ownerNotFound({ ref: { scope }, owner }: ReadKey): Error {
  return notFound(scope, owner ?? '', `see \`heddle ${scope}s list\``)
}

export function blockNotFound({ ref: { label }, share }: ReadKey): Error {
  if (share === null) return notFound('block', label, 'see `heddle memory blocks list`; put creates one')
  return notFound('block', sharedBlockName(share.by, label), 'see `heddle memory blocks list`; an admin may share it')
}

/** The error of a `put` that would create the block; under the name of a shared one it cannot. */
export function blockNotMade(key: ReadKey): Error {
  const { share, ref, owner } = key
  if (share === null) return blockNotFound(key)
  const rule = `must have no slash in the name of a new block: no agent "${share.by}" shares a block "${ref.label}" with "${owner}"`
  const hint = 'Give a label without a slash, or let an admin share the block: `heddle memory blocks grant`.'
  return validationError('label', rule, sharedBlockName(share.by, ref.label), hint)
}

/** The caller's view of a block: that of its owner, or of an agent that it is shared with. */
export type BlockView = Pick<MemoryBlock, 'scope' | 'owner' | 'shared'>

/** @throws the given error, `NOT_FOUND` by default, for a block of another agent that is not shared */
export async function loadView(tx: Tx, key: ReadKey, missing = blockNotFound(key)): Promise<BlockView> {
  const { ref, owner, share } = key
  const { scope } = ref
  if (share === null) return { scope, owner }
  const mode = await loadGrantedMode(tx, share.ref)
  if (mode === null) throw missing
  return { scope, owner, shared: { by: share.by, mode } }
}

export function toBlock({ scope, owner, shared }: BlockView, row: BlockRow): MemoryBlock {
  const { label, description, value, charactersMax, readOnly, version, change, createdAtMs, writtenBy, writerName } =
    row
  return {
    scope,
    owner,
    label: shared === undefined ? label : sharedBlockName(shared.by, label),
    description,
    value,
    limit: charactersMax,
    readOnly,
    version,
    change,
    changedBy: writtenBy !== null ? writerName : scope === 'agent' ? (shared?.by ?? owner) : null,
    changedAt: isoTime(createdAtMs),
    ...(shared !== undefined && { shared }),
  }
}
