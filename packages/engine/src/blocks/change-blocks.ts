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
import { type BlockChange, type BlockContent, changeBlock } from '@heddle/core'
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
  type Tx,
} from '@heddle/store'
import type { z } from 'zod'
import type { EngineContext } from '../setup/options.js'
import { blockNotFound, ownerNotFound, type ReadKey, readBlockKey, toBlock } from './block-keys.js'

const bodies = {
  put: putBlockSchema,
  insert: insertBlockSchema,
  replace: replaceBlockSchema,
  rethink: rethinkBlockSchema,
} as const

/**
 * Changes the content of a block; `put` creates one that is not there. A change of nothing makes no version.
 *
 * @throws PermanentError `NOT_FOUND`, `VALIDATION_ERROR`, and `FORBIDDEN` for a read-only block
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
  return await write(parts, key, { isNew: kind === 'put', ifVersion: change.ifVersion, ...options }, (_, latest) => {
    const current = latest === null || latest.removed ? null : latest
    if (current === null && kind !== 'put') return null
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
  return await write(parts, key, { isNew: false, ifVersion, ...options }, async (tx, latest, ref) => {
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

/** Removes a block from contexts. Its versions stay. @throws as {@link changeBlockContent} */
export async function removeBlock(
  parts: EngineContext,
  key: BlockKey,
  { ifVersion, ...options }: BlockWriteOptions & { readonly ifVersion?: number | undefined } = {},
): Promise<MemoryBlock> {
  return await write(parts, key, { isNew: false, ifVersion, ...options }, (_, latest) =>
    latest === null || latest.removed ? null : { ...contentOf(latest), value: '', removed: true, change: 'remove' },
  )
}

const contentOf = ({ value, description, charactersMax, readOnly }: BlockContent) => ({
  value,
  description,
  charactersMax,
  readOnly,
})

type Made = Omit<NewBlockVersion, 'version' | 'requestId'>
/** @returns the row itself if nothing changes; null if there is no block */
type Decide = (
  tx: Tx,
  latest: BlockRow | null,
  ref: BlockRef,
) => Made | BlockRow | null | Promise<Made | BlockRow | null>

interface Write extends BlockWriteOptions {
  /** Whether a block may be created. */
  readonly isNew: boolean
  readonly ifVersion: number | undefined
}

async function write(
  { store, project, projectId }: EngineContext,
  given: BlockKey,
  { isNew, ifVersion, ...options }: Write,
  decide: Decide,
): Promise<MemoryBlock> {
  const key = readBlockKey(projectId, given)
  const { idempotencyKey } = parse(blockWriteOptionsSchema, options, 'options')
  const { ref } = key
  const requestId =
    idempotencyKey === undefined ? null : idsOfKey(idempotencyKey, 'block', `${ref.ownerId} ${ref.label}`)(0)
  return await store.inProject(projectId, async (tx) => {
    if (isNew && ref.scope === 'project') await ensureProject(tx, { projectId, name: project })
    if (!(await holdBlockOwner(tx, ref))) throw ownerNotFound(key)
    const latest = isNew ? await lockNewBlock(tx, ref) : await lockBlock(tx, ref)
    const made = requestId === null ? null : await findBlockOfRequest(tx, ref, requestId)
    if (made !== null) {
      await refuseOtherChange(tx, { ref, made, decide })
      return toBlock(key, made)
    }
    refuseOtherVersion(key, latest, ifVersion)
    const next = await decide(tx, latest, ref)
    if (next === null) throw blockNotFound(key)
    if ('version' in next) return toBlock(key, next)
    if (latest === null) await refuseTooMany(tx, ref)
    const version = (latest?.version ?? 0) + 1
    return toBlock(key, await insertBlockVersion(tx, ref, { ...next, version, requestId }))
  })
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

function refuseOtherVersion(key: ReadKey, latest: BlockRow | null, ifVersion: number | undefined): void {
  const current = latest === null || latest.removed ? null : latest
  if (ifVersion === undefined || ifVersion === (current?.version ?? 0)) return
  const { label } = key.ref
  throw new ConflictError(
    current === null ? `there is no block "${label}"` : `block "${label}" has version ${current.version}`,
    {
      field: 'ifVersion',
      received: String(ifVersion),
      hint: 'Apply the change to the current block, which facts.current has, and send its version.',
      facts: { current: current === null ? null : toBlock(key, current) },
    },
  )
}

async function refuseTooMany(tx: Tx, ref: BlockRef): Promise<void> {
  const count = await countBlocks(tx, ref)
  if (count <= limits.blocksPerOwnerMax) return
  const rule = `an owner may have at most ${limits.blocksPerOwnerMax} blocks, including removed ones`
  throw validationError('label', rule, ref.label, 'Put several subjects into one block.')
}
