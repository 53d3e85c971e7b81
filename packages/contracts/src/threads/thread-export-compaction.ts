import { z } from 'zod'
import { artifactKinds, artifactStates } from '../primitives/artifacts.js'
import { idSchema } from '../primitives/names.js'
import { archiveKinds } from '../recall/archive.js'
import { count, hash, line, position, text, texts, time } from './thread-export-fields.js'

/** An archived content that is not the text of its message, once for all entries that have it. */
export const contentRecord = z.strictObject({ type: z.literal('content'), hash, text })

export const archiveRecord = z
  .strictObject({
    type: z.literal('archive'),
    messageId: idSchema,
    location: z.string().max(200),
    contentType: z.enum(archiveKinds),
    summary: line,
    /** Null where the content is the text of the message. */
    contentHash: hash.nullable(),
    filePaths: texts,
    toolName: line.nullable(),
    tokenCount: count,
    failed: z.boolean(),
    originalCreatedAt: time,
    archivedAt: time,
    lastAccessedAt: time.nullable(),
    accessCount: count,
  })
  .refine(({ contentHash, location }) => contentHash !== null || location === '', {
    path: ['contentHash'],
    error: 'must name a content: it is null only of a message as a whole',
  })

/** The artifacts up to a compaction, as they are stored with it. */
const ledger = z.strictObject({
  code: line,
  artifacts: z
    .array(
      z.strictObject({
        kind: z.enum(artifactKinds),
        name: line,
        state: z.enum(artifactStates).nullable(),
        lines: count.nullable(),
        detail: line,
        check: z.strictObject({ name: line, passed: z.boolean() }).nullable(),
        codes: z.array(line).max(100),
        at: count,
      }),
    )
    .max(10_000),
  dropped: count,
  changes: count,
})

export const stateRecord = z.strictObject({
  type: z.literal('state'),
  /** Its number among the states of the file, from 1, by which prunings and later states refer to it. */
  number: z.int().min(1),
  replaces: z.int().min(1).nullable(),
  lane: line,
  strategy: line,
  clearEpoch: count,
  generation: count,
  status: z.enum(['pending', 'passed', 'ready', 'void']),
  pointAt: position.at,
  pointOrdinal: position.ordinal,
  pointId: position.id,
  headSeq: count,
  topIds: z.array(idSchema).max(1_000_000),
  coveredFromAt: position.at.nullable(),
  coveredFromOrdinal: position.ordinal.nullable(),
  coveredFromId: position.id.nullable(),
  coveredToAt: position.at.nullable(),
  coveredToOrdinal: position.ordinal.nullable(),
  coveredToId: position.id.nullable(),
  coveredCount: count,
  coveredTokens: count,
  summary: line.nullable(),
  summaryTokens: count,
  summarizer: line.nullable(),
  /** Files of earlier versions do not have it. */
  ledger: ledger.nullable().default(null),
  createdAt: time,
  readyAt: time.nullable(),
  voidedAt: time.nullable(),
})

export const pruningRecord = z.strictObject({
  type: z.literal('pruning'),
  /** The number of its state. */
  state: z.int().min(1),
  messageId: idSchema,
  /** The archive entry with the content. */
  archive: z.strictObject({ messageId: idSchema, location: z.string().max(200) }),
  action: z.enum(['condense', 'remove', 'stub']),
  text: line,
  /** The calls whose inputs are replaced by a line; files of earlier versions do not have it. */
  calls: z
    .array(z.strictObject({ number: z.int().min(1), text: line, freedTokens: count }))
    .max(10_000)
    .nullable()
    .optional(),
  tokens: count,
  reason: line,
  undoneAt: time.nullable(),
  createdAt: time,
})

/** A message whose pruning was undone; see `uncompact`. */
export const undoneRecord = z.strictObject({
  type: z.literal('undone'),
  messageId: idSchema,
  undoneAt: time,
  redoneAt: time.nullable(),
})

/** A change of the pin of a stored message. */
export const pinRecord = z.strictObject({
  type: z.literal('pin'),
  messageId: idSchema,
  changedAt: time,
  isPinned: z.boolean(),
  until: time.nullable(),
})
