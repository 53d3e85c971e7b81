import { z } from 'zod'
import { archiveKinds } from './archive.js'
import { includeModeSchema, itemBodySchema, itemTypeSchema } from './items.js'
import { fileEventSchema } from './iterations.js'
import { limits } from './limits.js'
import { messageInputSchema } from './messages.js'
import { idSchema, nameSchema } from './names.js'
import { partialSettingsSchema } from './settings.js'
import { loopSchema } from './threads.js'

/**
 * An exported thread: JSON lines, one record each, in the order of {@link exportRecordTypes}. Records hold the columns of
 * their tables with every field, so that an import followed by an export gives the same bytes. Rows are named by what they
 * are about, never by ids that only one database knows.
 */
export const THREAD_EXPORT_VERSION = 1

const time = z.string().min(10).max(40)
const hash = z.string().regex(/^\\x[0-9a-f]{2,128}$/, 'must be bytes as \\x and hexadecimal digits')
const count = z.int().min(0)
const seconds = z.number()
const text = z.string().max(limits.recordCharactersMax)
const line = z.string().max(limits.messageCharactersMax)
const texts = z.array(text).max(1_000_000)
const message = messageInputSchema.shape

const position = { at: time, ordinal: z.int(), id: idSchema }

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

/** The mode of the tools of a server that have none of their own. */
const toolServerRecord = z.strictObject({ type: z.literal('toolServer'), name: nameSchema, include: includeModeSchema })

const itemKey = {
  itemType: itemTypeSchema,
  name: nameSchema,
  /** Empty for a rule and a reference. */
  serverName: z.union([nameSchema, z.literal('')]),
}
const item = itemBodySchema.shape

/** An item of the agent in the version in force; of one that was taken away nothing but its name. */
const itemRecord = z.strictObject({
  type: z.literal('item'),
  ...itemKey,
  description: item.description.unwrap(),
  text: item.text.unwrap(),
  inputSchema: item.inputSchema.unwrap(),
  include: item.include.unwrap(),
  priorityLevel: item.priorityLevel.unwrap(),
  erased: z.boolean(),
})

/** A version of an item's place in the thread. */
const threadItemRecord = z.strictObject({
  type: z.literal('threadItem'),
  ...itemKey,
  version: z.int().min(1),
  includeMode: z.enum(['always', 'manual']),
  removed: z.boolean(),
  createdAt: time,
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
  output: text,
  textsEscaped: z.boolean(),
  progressScore: seconds.nullable(),
  progressMarkers: texts,
  fileChanges: texts,
  fileEvents: z.array(fileEventSchema),
  durationSeconds: seconds.nullable(),
  fingerprint: hash,
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

/** An archived content, once for all entries that hold it. */
const contentRecord = z.strictObject({ type: z.literal('content'), hash, text })

const archiveRecord = z.strictObject({
  type: z.literal('archive'),
  messageId: idSchema,
  location: z.string().max(200),
  contentType: z.enum(archiveKinds),
  summary: line,
  contentHash: hash,
  filePaths: texts,
  toolName: line.nullable(),
  tokenCount: count,
  failed: z.boolean(),
  originalCreatedAt: time,
  archivedAt: time,
  lastAccessedAt: time.nullable(),
  accessCount: count,
})

const stateRecord = z.strictObject({
  type: z.literal('state'),
  /** Its place among the states of the file, from 1; prunings and later states name it by that. */
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
  createdAt: time,
  readyAt: time.nullable(),
  voidedAt: time.nullable(),
})

const pruningRecord = z.strictObject({
  type: z.literal('pruning'),
  /** The number of its state. */
  state: z.int().min(1),
  messageId: idSchema,
  /** The archive entry that holds the content. */
  archive: z.strictObject({ messageId: idSchema, location: z.string().max(200) }),
  action: z.enum(['condense', 'remove', 'stub']),
  text: line,
  tokens: count,
  reason: line,
  undoneAt: time.nullable(),
  createdAt: time,
})

/** A message whose pruning was undone; see `uncompact`. */
const undoneRecord = z.strictObject({
  type: z.literal('undone'),
  messageId: idSchema,
  undoneAt: time,
  redoneAt: time.nullable(),
})

const messageRecord = z.strictObject({
  type: z.literal('message'),
  seq: z.int().min(1),
  id: idSchema,
  code: z.string().regex(/^[0-9a-z]{1,52}$/, 'must be a short code'),
  role: message.role,
  content: text,
  contentEscaped: z.boolean(),
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
  keptAside: message.keptAside.unwrap().nullable(),
  metadata: message.metadata.unwrap().nullable(),
  tokensEstimate: count,
  fingerprint: hash,
  /** The exact count; null where it was not counted yet. */
  tokens: count.nullable(),
})

/** The last line: a file without it was cut short. */
const endRecord = z.strictObject({ type: z.literal('end'), records: count })

export const exportRecordSchema = z.discriminatedUnion(
  'type',
  [
    threadRecord,
    toolServerRecord,
    itemRecord,
    threadItemRecord,
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
    messageRecord,
    endRecord,
  ],
  { error: 'must be a record of an exported thread' },
)
export type ExportRecord = z.infer<typeof exportRecordSchema>
export type ExportRecordOf<Type extends ExportRecord['type']> = Extract<ExportRecord, { type: Type }>

/** The order of records in a file: what others refer to comes first, and messages last, which a reader is told of. */
export const exportRecordTypes = [
  'thread',
  'toolServer',
  'item',
  'threadItem',
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
  'message',
  'end',
] as const satisfies readonly ExportRecord['type'][]
