import { z } from 'zod'
import { keptAsideReasons, messageInputSchema } from '../messages/messages.js'
import { partDataSchema, storedPartSchema } from '../messages/parts.js'
import { limits } from '../primitives/limits.js'
import { idSchema, nameSchema } from '../primitives/names.js'
import { partialSettingsSchema } from '../settings/settings.js'
import { fileEventSchema } from './iterations.js'
import {
  archiveRecord,
  contentRecord,
  pinRecord,
  pruningRecord,
  stateRecord,
  undoneRecord,
} from './thread-export-compaction.js'
import { factRecord } from './thread-export-facts.js'
import { count, hash, line, seconds, text, texts, time } from './thread-export-fields.js'
import { blockRecord, itemRecord, threadItemRecord, toolServerRecord } from './thread-export-items.js'
import { loopSchema } from './threads.js'

/**
 * An exported thread: JSON lines, one record each, in the order of {@link exportRecordTypes}. Records have every column
 * of their tables, so that an import followed by an export gives the same bytes. Rows are identified by their subject,
 * never by ids of one database.
 */
export const THREAD_EXPORT_VERSION = 1

const message = messageInputSchema.shape

const threadRecord = z.strictObject({
  type: z.literal('thread'),
  version: z.literal(THREAD_EXPORT_VERSION, { error: `must be ${THREAD_EXPORT_VERSION}: another version wrote this` }),
  thread: z.strictObject({
    name: nameSchema,
    createdAt: time,
    activeAt: time.nullable(),
    headSeq: count,
    pruneSeq: count,
    summarizeSeq: count,
  }),
  agent: z.strictObject({
    name: nameSchema,
    systemPrompt: z.string().max(limits.documentCharactersMax),
    docs: z.array(z.strictObject({ name: nameSchema, text: z.string().max(limits.documentCharactersMax) })).max(100),
    settings: partialSettingsSchema,
    clearEpoch: count,
    lastClearedAt: time.nullable(),
    clears: z.array(z.strictObject({ epoch: count, clearedAt: time, createdAt: time })).max(1_000_000),
  }),
})

const threadVersionRecord = z.strictObject({
  type: z.literal('threadVersion'),
  version: count,
  title: line.nullable(),
  goal: line.nullable(),
  status: line.nullable(),
  settings: partialSettingsSchema,
  loop: loopSchema.nullable(),
  createdAt: time,
})

const processRecord = z.strictObject({
  type: z.literal('process'),
  name: nameSchema,
  version: count,
  status: line,
  endedAt: time.nullable(),
  createdAt: time,
})

const runningProcessRecord = z.strictObject({
  type: z.literal('runningProcess'),
  name: nameSchema,
  version: count,
  updatedAt: time,
})

const iterationRecord = z.strictObject({
  type: z.literal('iteration'),
  number: z.int(),
  id: idSchema,
  happenedAt: time,
  cliUsed: line.nullable(),
  modelUsed: line.nullable(),
  prompt: text,
  /** Null if it is the content of the message with the iteration's id; never in files of earlier versions. */
  output: text.nullable(),
  /** The number of that message. */
  seq: z.int().min(1).nullable().default(null),
  textsEscaped: z.boolean(),
  progressScore: seconds.nullable(),
  progressMarkers: texts,
  fileChanges: texts,
  fileEvents: z.array(fileEventSchema),
  durationSeconds: seconds.nullable(),
  /** Null if that of its message is its own. */
  fingerprint: hash.nullable(),
  createdAt: time,
})

/** A version of the summary of older iterations. */
const progressSummaryRecord = z.strictObject({
  type: z.literal('progressSummary'),
  lane: line,
  clearEpoch: count,
  version: z.int().min(1),
  kind: z.enum(['fold', 'regenerate']),
  total: count,
  coveredCount: count,
  coveredFrom: count,
  coveredTo: count,
  summary: line,
  summaryTokens: count,
  summarizer: line,
  createdAt: time,
})

const clearRecord = z.strictObject({ type: z.literal('clear'), epoch: count, headSeq: count })

const messageRecord = z.strictObject({
  type: z.literal('message'),
  seq: z.int().min(1),
  id: idSchema,
  code: z.string().regex(/^[0-9a-z]{1,52}$/, 'must be a short code'),
  role: message.role,
  content: text,
  contentEscaped: z.boolean(),
  /** Absent in files written before messages had parts. */
  parts: z.array(storedPartSchema).max(limits.partsPerMessageMax).nullable().optional(),
  thinking: message.thinking.unwrap().nullable(),
  toolCalls: message.toolCalls.unwrap().nullable(),
  toolCallId: message.toolCallId.unwrap().nullable(),
  toolName: message.toolName.unwrap().nullable(),
  isError: z.boolean(),
  sentAt: time.nullable(),
  orderedAt: time,
  ordinal: z.int(),
  latestAt: time,
  receivedAt: time,
  sourceId: message.sourceId.unwrap().nullable(),
  model: message.model.unwrap().nullable(),
  usage: message.usage.unwrap().nullable(),
  contextId: idSchema.nullable(),
  pinned: z.boolean(),
  /** `erased`: the message has no content any more. */
  keptAside: z.enum([...keptAsideReasons, 'erased']).nullable(),
  metadata: message.metadata.unwrap().nullable(),
  tokensEstimate: count,
  /** Empty where the message was erased. */
  fingerprint: hash.or(z.literal('\\x')),
  /** The message that a restore marker points at. Absent in files written before there were markers. */
  restoresSeq: z.int().min(1).nullable().default(null),
  /** The exact count; null if it was not counted yet. */
  tokens: count.nullable(),
  /** The part of `tokens` for its reasoning; absent in files of earlier versions. */
  reasoningTokens: count.nullable().optional(),
})

/** The bytes of an image, a document or audio as base64, once for all messages that contain it. */
const partRecord = z.strictObject({ type: z.literal('part'), data: partDataSchema })

/** The last line: a file without it was truncated. */
const endRecord = z.strictObject({ type: z.literal('end'), records: count })

export const exportRecordSchema = z.discriminatedUnion(
  'type',
  [
    threadRecord,
    toolServerRecord,
    itemRecord,
    threadItemRecord,
    blockRecord,
    threadVersionRecord,
    processRecord,
    runningProcessRecord,
    iterationRecord,
    progressSummaryRecord,
    clearRecord,
    contentRecord,
    archiveRecord,
    stateRecord,
    pruningRecord,
    undoneRecord,
    pinRecord,
    factRecord,
    partRecord,
    messageRecord,
    endRecord,
  ],
  { error: 'must be a record of an exported thread' },
)
export type ExportRecord = z.infer<typeof exportRecordSchema>
export type ExportRecordOf<Type extends ExportRecord['type']> = Extract<ExportRecord, { type: Type }>

/** The order of records in a file: referenced records come first, and messages last. */
export const exportRecordTypes = [
  'thread',
  'toolServer',
  'item',
  'threadItem',
  'block',
  'threadVersion',
  'process',
  'runningProcess',
  'iteration',
  'progressSummary',
  'clear',
  'content',
  'archive',
  'state',
  'pruning',
  'undone',
  'pin',
  'fact',
  'part',
  'message',
  'end',
] as const satisfies readonly ExportRecord['type'][]
