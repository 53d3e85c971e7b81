import { z } from 'zod'
import { isoTimeSchema, named, pageQuerySchema, pageSchema, wholeNumberSchema } from '../http/common.js'
import { limits } from '../primitives/limits.js'
import { nameSchema } from '../primitives/names.js'
import type { OutputOf } from '../primitives/output-of.js'
import { sharedBlockSchema } from './grants.js'
import { blockNameSchema } from './labels.js'

/** The contexts that share a block: all of the project, those of an agent, or those of a thread; in the order of contexts. */
export const blockScopes = ['project', 'agent', 'thread'] as const
export type BlockScope = (typeof blockScopes)[number]
export const blockScopeSchema = z.enum(blockScopes, { error: `must be one of ${blockScopes.join(', ')}` })

const textSchema = (charactersMax: number) =>
  z
    .string()
    .max(charactersMax, `must have at most ${charactersMax} characters`)
    .refine((text) => !text.includes('\0') && text.isWellFormed(), 'must not contain NUL characters or lone surrogates')

const valueSchema = textSchema(limits.blockCharactersMax)
const pieceSchema = valueSchema.min(1, 'must not be empty')
const versionSchema = z.int().min(1)

/** Refuses the change unless the block has this version: the answer 409 has the current one. 0: unless there is no block. */
const ifVersionSchema = z.int().min(0).optional()

/** The changes that a version can be made by. */
export const blockChanges = ['put', 'insert', 'replace', 'rethink', 'undo', 'remove'] as const
export type BlockChangeKind = (typeof blockChanges)[number]

export const blockSchema = named(
  'MemoryBlock',
  z.object({
    scope: blockScopeSchema,
    /** The agent or the thread; null for a block of the project. */
    owner: z.string().nullable(),
    /** `coder/human` for a block that the agent `coder` shares with the owner here. */
    label: z.string(),
    /** For the model: the purpose of the block. */
    description: z.string(),
    value: z.string(),
    /** Most characters of the value. */
    limit: z.int(),
    /** Models may not change it. */
    readOnly: z.boolean(),
    version: z.int(),
    /** How this version was made. */
    change: z.enum(blockChanges),
    /** The agent in whose name it was made; null for blocks of threads and the project, and for an agent that was erased. */
    changedBy: z.string().nullable(),
    changedAt: isoTimeSchema,
    /** Absent for a block of the owner's own. */
    shared: sharedBlockSchema.optional(),
  }),
)
export type MemoryBlock = OutputOf<typeof blockSchema>
export const blockPageSchema = named('MemoryBlockPage', pageSchema(blockSchema))

/** Missing fields are unchanged; in a new block they are empty, and the limit is 5,000. */
export const putBlockSchema = z.strictObject({
  value: valueSchema.optional(),
  description: textSchema(limits.blockDescriptionCharactersMax).optional(),
  limit: z.int().min(1).max(limits.blockCharactersMax).optional(),
  readOnly: z.boolean().optional(),
  ifVersion: ifVersionSchema,
})

export const insertBlockSchema = z.strictObject({
  /** One line, or several. */
  text: pieceSchema,
  /** The lines before it. Default: all of them. */
  afterLine: z.int().min(0).optional(),
  ifVersion: ifVersionSchema,
})

export const replaceBlockSchema = z.strictObject({
  /** A part of the value that occurs once. */
  oldText: pieceSchema,
  /** Empty: the part is removed. */
  newText: valueSchema,
  ifVersion: ifVersionSchema,
})

export const rethinkBlockSchema = z.strictObject({
  /** The whole new value. */
  value: valueSchema,
  ifVersion: ifVersionSchema,
})

export const undoBlockSchema = z.strictObject({
  /** The version whose content holds again. Default: the one before the current one. */
  toVersion: versionSchema.optional(),
  ifVersion: ifVersionSchema,
})

export type PutBlock = z.infer<typeof putBlockSchema>
export type InsertBlock = z.infer<typeof insertBlockSchema>
export type ReplaceBlock = z.infer<typeof replaceBlockSchema>
export type RethinkBlock = z.infer<typeof rethinkBlockSchema>
export type UndoBlock = z.infer<typeof undoBlockSchema>

export const blockParamsSchema = z.strictObject({ scope: blockScopeSchema, label: blockNameSchema })

/** The name of the agent or the thread; absent for the project. */
const ownerSchema = nameSchema.optional()
export const blockOwnerQuerySchema = z.strictObject({ owner: ownerSchema })
export const blockQuerySchema = z.strictObject({
  owner: ownerSchema,
  /** An older one, also of a removed block. */
  version: wholeNumberSchema.pipe(versionSchema).optional(),
})
export const removeBlockQuerySchema = z.strictObject({
  owner: ownerSchema,
  ifVersion: wholeNumberSchema.pipe(z.int().min(0)).optional(),
})
export const blockHistoryQuerySchema = pageQuerySchema.extend({ owner: ownerSchema })
export const blocksQuerySchema = z.strictObject({
  /** The blocks that contexts of a thread show: its own, those of its agent, those shared with it, and those of the project. */
  thread: nameSchema.optional(),
  /** The blocks of an agent, those shared with it, and those of the project. */
  agent: nameSchema.optional(),
})

export const blockKeySchema = z.strictObject({ ...blockParamsSchema.shape, owner: ownerSchema })
/** Names a block. */
export type BlockKey = z.infer<typeof blockKeySchema>

/** The block of a line of a receipt. */
export const blockEntrySchema = z.object({
  scope: blockScopeSchema,
  label: z.string(),
  version: z.int(),
  /** The agent that shares it; absent for a block of the thread, its agent or the project. */
  sharedBy: z.string().optional(),
})
export type BlockEntry = z.infer<typeof blockEntrySchema>
