import { isDeepStrictEqual } from 'node:util'
import { idsOfKey } from '@heddle/client/calls'
import { type BlockWriteOptions, blockWriteOptionsSchema } from '@heddle/client/interface'
import {
  type BlockKey,
  ConflictError,
  insertBlockSchema,
  limits,
  type MemoryBlock,
  PermanentError,
  parse,
  putBlockSchema,
  replaceBlockSchema,
  rethinkBlockSchema,
  undoBlockSchema,
  validationError,
} from '@heddle/contracts'
import { type BlockChange, type BlockContent, changeBlock, checkGrantedChange } from '@heddle/core'
import {
  type BlockRef,
  type BlockRow,
  countBlocks,
  ensureProject,
  findBlockOfRequest,
  holdBlockOwner,
  insertBlockVersion,
  loadBlock,
  lockBlock,
  lockNewBlock,
  type NewBlockVersion,
  revokeBlockGrants,
  type Tx,
} from '@heddle/store'
import type { z } from 'zod'
import type { EngineContext } from '../setup/options.js'
import {
  type BlockView,
  blockNotFound,
  blockNotMade,
  loadView,
  ownerNotFound,
  type ReadKey,
  readBlockKey,
  toBlock,
} from './block-keys.js'

const bodies = {
  put: putBlockSchema,
  insert: insertBlockSchema,
  replace: replaceBlockSchema,
  rethink: rethinkBlockSchema,
} as const

/**
 * Changes the content of a block; `put` creates one that is not there. A change of nothing makes no version.
 *
 * @throws PermanentError `NOT_FOUND`, `VALIDATION_ERROR`, and `FORBIDDEN` for a read-only block, or one that another agent shares
 *   for reading alone
 * @throws ConflictError with the current block, if it has another version than `ifVersion`
 */
export async function changeBlockContent<Kind extends keyof typeof bodies>(
  parts: EngineContext,
  kind: Kind,
  key: BlockKey,
  given: z.input<(typeof bodies)[Kind]>,
  options?: BlockWriteOptions,
): Promise<MemoryBlock> {
  const change = { kind, ...(parse(bodies[kind], given, kind) as object) } as BlockChange
  const isPut = kind === 'put'
  const how = { isNew: isPut, isOfModels: !isPut, ifVersion: change.ifVersion, ...options }
  return await write(parts, key, how, (_, latest) => {
    const current = latest === null || latest.removed ? null : latest
    if (current === null && !isPut) return null
    const after = changeBlock(current, change)
    return after === current ? current : { ...contentOf(after), removed: false, change: kind }
  })
}

/**
 * Takes an earlier version into force again, as a new one; also for a removed block.
 *
 * @throws as {@link changeBlockContent}
 */
export async function undoBlock(
  parts: EngineContext,
  key: BlockKey,
  given: z.input<typeof undoBlockSchema> = {},
  options?: BlockWriteOptions,
): Promise<MemoryBlock> {
  const { toVersion, ifVersion } = parse(undoBlockSchema, given, 'undo')
  const how = { isNew: false, isOfModels: false, ifVersion, ...options }
  return await write(parts, key, how, async (tx, latest, ref) => {
    if (latest === null) return null
    const version = toVersion ?? latest.version - 1
    const earlier = version < latest.version ? await loadBlock(tx, { ...ref, version }) : null
    if (earlier === null || earlier.removed) throw noEarlier(toVersion, latest)
    return { ...contentOf(earlier), removed: false, change: 'undo' }
  })
}

function noEarlier(toVersion: number | undefined, { version }: BlockRow): Error {
  if (toVersion !== undefined)
    return validationError('toVersion', 'must be an earlier version with a content', toVersion)
  return validationError(
    'toVersion',
    'is needed: the version before the current one has no content',
    `version ${version}`,
  )
}

/** Removes a block from contexts, and ends its grants. Its versions stay. @throws as {@link changeBlockContent} */
export async function removeBlock(
  parts: EngineContext,
  key: BlockKey,
  { ifVersion, ...options }: BlockWriteOptions & { readonly ifVersion?: number | undefined } = {},
): Promise<MemoryBlock> {
  const how = { isNew: false, isOfModels: false, ifVersion, ...options }
  return await write(parts, key, how, (_, latest) =>
    latest === null || latest.removed ? null : { ...contentOf(latest), value: '', removed: true, change: 'remove' },
  )
}

const contentOf = ({ value, description, charactersMax, readOnly }: BlockContent) => ({
  value,
  description,
  charactersMax,
  readOnly,
})

type Made = Omit<NewBlockVersion, 'version' | 'requestId' | 'writtenBy'>
/** @returns the row itself if nothing changes; null if there is no block */
type Decide = (
  tx: Tx,
  latest: BlockRow | null,
  ref: BlockRef,
) => Made | BlockRow | null | Promise<Made | BlockRow | null>

interface Write extends BlockWriteOptions {
  /** Whether a block may be created. */
  readonly isNew: boolean
  /** Whether a grant of the mode `write` gives the right to it. */
  readonly isOfModels: boolean
  readonly ifVersion: number | undefined
}

async function write(
  { store, project, projectId }: EngineContext,
  given: BlockKey,
  { isNew, isOfModels, ifVersion, ...options }: Write,
  decide: Decide,
): Promise<MemoryBlock> {
  const key = readBlockKey(projectId, given)
  const { idempotencyKey } = parse(blockWriteOptionsSchema, options, 'options')
  const { ref, share } = key
  const writtenBy = share?.ref.granteeAgentId ?? null
  const caller = writtenBy === null ? '' : ` ${writtenBy}`
  const requestId =
    idempotencyKey === undefined ? null : idsOfKey(idempotencyKey, 'block', `${ref.ownerId} ${ref.label}${caller}`)(0)
  return await store.inProject(projectId, async (tx) => {
    if (isNew && ref.scope === 'project') await ensureProject(tx, { projectId, name: project })
    const missing = isNew ? blockNotMade(key) : blockNotFound(key)
    await holdOwners(tx, key, missing)
    const latest = isNew && share === null ? await lockNewBlock(tx, ref) : await lockBlock(tx, ref)
    // Grants change under the same lock.
    const view = await loadView(tx, key, missing)
    if (view.shared !== undefined) checkGrantedChange(view.shared.mode, isOfModels)
    const made = requestId === null ? null : await findBlockOfRequest(tx, ref, requestId)
    if (made !== null) {
      await refuseOtherChange(tx, { ref, made, decide })
      return toBlock(view, made)
    }
    refuseOtherVersion(view, ref, latest, ifVersion)
    const next = await decide(tx, latest, ref)
    if (next === null) throw missing
    if ('version' in next) return toBlock(view, next)
    if (latest === null) await refuseTooMany(tx, ref)
    const version = (latest?.version ?? 0) + 1
    if (next.removed && ref.scope === 'agent') await revokeBlockGrants(tx, ref)
    return toBlock(view, await insertBlockVersion(tx, ref, { ...next, version, requestId, writtenBy }))
  })
}

/**
 * Protects the owner from erasure, and the agent that changes a block of another one.
 *
 * @param missing the error for a block of an agent that does not exist
 */
async function holdOwners(tx: Tx, key: ReadKey, missing: Error): Promise<void> {
  const { ref, share } = key
  const isHeld = share === null || (await holdBlockOwner(tx, { scope: 'agent', ownerId: share.ref.granteeAgentId }))
  if (!isHeld) throw ownerNotFound(key)
  if (!(await holdBlockOwner(tx, ref))) throw share === null ? ownerNotFound(key) : missing
}

interface Repeated {
  readonly ref: BlockRef
  /** The version that a request of the same key made. */
  readonly made: BlockRow
  readonly decide: Decide
}

/** @throws ConflictError unless the change makes the same version of the one before it */
async function refuseOtherChange(tx: Tx, repeated: Repeated): Promise<void> {
  const { ref, made } = repeated
  const next = await decideAgain(tx, repeated)
  const isSame =
    next !== null &&
    !('version' in next) &&
    next.change === made.change &&
    next.removed === made.removed &&
    isDeepStrictEqual(contentOf(next), contentOf(made))
  if (isSame) return
  throw new ConflictError(
    `the key of the request made version ${made.version} of block "${ref.label}" by another change`,
    {
      field: 'idempotencyKey',
      received: made.change,
      hint: 'Use a key of its own for each change.',
    },
  )
}

/** @returns null if the change cannot be made to the version before it */
async function decideAgain(tx: Tx, { ref, made, decide }: Repeated): Promise<Made | BlockRow | null> {
  const before = made.version === 1 ? null : await loadBlock(tx, { ...ref, version: made.version - 1 })
  try {
    return await decide(tx, before, ref)
  } catch (error) {
    if (error instanceof PermanentError) return null
    throw error
  }
}

function refuseOtherVersion(
  view: BlockView,
  { label }: BlockRef,
  latest: BlockRow | null,
  ifVersion: number | undefined,
): void {
  const current = latest === null || latest.removed ? null : latest
  if (ifVersion === undefined || ifVersion === (current?.version ?? 0)) return
  throw new ConflictError(
    current === null ? `there is no block "${label}"` : `block "${label}" has version ${current.version}`,
    {
      field: 'ifVersion',
      received: String(ifVersion),
      hint: 'Apply the change to the current block, which facts.current has, and send its version.',
      facts: { current: current === null ? null : toBlock(view, current) },
    },
  )
}

async function refuseTooMany(tx: Tx, ref: BlockRef): Promise<void> {
  const count = await countBlocks(tx, ref)
  if (count <= limits.blocksPerOwnerMax) return
  const rule = `an owner may have at most ${limits.blocksPerOwnerMax} blocks, including removed ones`
  throw validationError('label', rule, ref.label, 'Put several subjects into one block.')
}
