import { type BlockKey, blockKeySchema, type MemoryBlock, notFound, parse, validationError } from '@heddle/contracts'
import { agentIdOf, threadIdOf } from '@heddle/core'
import type { BlockRef, BlockRow } from '@heddle/store'
import { isoTime } from '../setup/iso-time.js'

/** A block by name and by id. */
export interface ReadKey {
  readonly ref: BlockRef
  /** Null for a block of the project. */
  readonly owner: string | null
}

/** @throws PermanentError `VALIDATION_ERROR`, also for an owner that the scope does not have, or lacks */
export function readBlockKey(projectId: string, given: BlockKey): ReadKey {
  const { scope, owner, label } = parse(blockKeySchema, given, 'block')
  if (scope === 'project') {
    if (owner !== undefined) throw validationError('owner', 'must be absent for a block of the project', owner)
    return { ref: { scope, ownerId: projectId, label }, owner: null }
  }
  if (owner === undefined) throw validationError('owner', `must be the name of the ${scope}`, 'nothing')
  const ownerId = scope === 'agent' ? agentIdOf(projectId, owner) : threadIdOf(projectId, owner)
  return { ref: { scope, ownerId, label }, owner }
}

export function ownerNotFound({ ref: { scope }, owner }: ReadKey): Error {
  return notFound(scope, owner ?? '', `see \`heddle ${scope}s list\``)
}

export function blockNotFound({ ref: { label } }: ReadKey): Error {
  return notFound('block', label, 'see `heddle memory blocks list`; put creates one')
}

export function toBlock(
  { ref: { scope }, owner }: Pick<ReadKey, 'owner'> & { ref: Pick<BlockRef, 'scope'> },
  row: BlockRow,
): MemoryBlock {
  const { label, description, value, charactersMax, readOnly, version, change, createdAtMs } = row
  return {
    scope,
    owner,
    label,
    description,
    value,
    limit: charactersMax,
    readOnly,
    version,
    change,
    changedAt: isoTime(createdAtMs),
  }
}
