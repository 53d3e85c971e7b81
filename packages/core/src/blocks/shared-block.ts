import { type BlockGrantMode, PermanentError, sharedBlockName } from '@heddle/contracts'
import type { BlockSharer, BlockVersion, ContextBlock } from './block.js'

/** A block of another agent and the grant to this one, each as of the last compaction and as of now. */
export interface SharedBlock {
  readonly sharer: BlockSharer
  readonly label: string
  /** Null for a grant that is revoked. */
  readonly mode: BlockGrantMode | null
  /** Null if the block was not shared at the compaction. */
  readonly modeBefore: BlockGrantMode | null
  readonly latest: BlockVersion
  /** Null if the block was made since. */
  readonly base: BlockVersion | null
}

/**
 * The block as contexts of the other agent show it. One that was shared since the compaction is like one that was made since, so
 * that it leaves the prefix as it is; one whose grant was revoked is like a removed one, and shows nothing of later versions.
 *
 * @returns null for a block that was shared neither at the compaction nor is now
 */
export function sharedContextBlock({
  sharer,
  label,
  mode,
  modeBefore,
  latest,
  base,
}: SharedBlock): ContextBlock | null {
  const before = modeBefore === null || base === null || base.removed ? null : { ...base, mode: modeBefore }
  const isShared = mode !== null && !latest.removed
  if (!isShared && before === null) return null
  return {
    scope: 'agent',
    label: sharedBlockName(sharer.name, label),
    sharer,
    base: before,
    current: isShared ? { ...latest, mode } : { ...(before ?? latest), value: '', description: '', removed: true },
  }
}

/**
 * A grant gives the right to the changes that models make, and those only with the mode `write`.
 *
 * @throws PermanentError `FORBIDDEN`
 */
export function checkGrantedChange(mode: BlockGrantMode, isOfModels: boolean): void {
  if (!isOfModels) {
    throw new PermanentError(
      'FORBIDDEN',
      'the block belongs to another agent, in whose name alone it is put, undone or removed',
      {
        field: 'label',
        hint: 'Name the block by its owner and its label.',
      },
    )
  }
  if (mode === 'read') {
    throw new PermanentError('FORBIDDEN', 'the block is shared for reading alone', {
      field: 'label',
      hint: 'Use a block of your own; an admin may share it with the mode "write".',
    })
  }
}
