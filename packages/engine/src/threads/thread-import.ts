import type { ImportedThread, ImportThreadOptions } from '@heddle/client/interface'
import {
  type ExportRecord,
  type ExportRecordOf,
  exportRecordTypes,
  nameSchema,
  parse,
  validationError,
} from '@heddle/contracts'
import { threadIdOf } from '@heddle/core'
import {
  beginImport,
  checkMessages,
  finishImport,
  type ImportedStates,
  importArchive,
  importContents,
  importFacts,
  importItems,
  importMessages,
  importPartContents,
  importPrunings,
  importRows,
  importStates,
  importThreadItems,
  importToolServers,
  type Tx,
} from '@heddle/store'
import type { EngineContext } from '../setup/options.js'
import { type Batch, BROKEN_HINT, batchesOf, recordsOf } from './export-records.js'

/**
 * Imports an exported thread without loss: an export of it gives the same file. The file is read twice: it is checked as a
 * whole before anything is stored. Importing it again adds nothing, and continues an interrupted import.
 *
 * @param read returns the lines of the file from its beginning, at each call
 * @throws PermanentError `VALIDATION_ERROR` with the line
 * @throws ConflictError if a thread with that name has another conversation
 */
export async function importThread(
  parts: EngineContext,
  read: () => AsyncIterable<string>,
  options: ImportThreadOptions = {},
): Promise<ImportedThread> {
  const { store, project, projectId } = parts
  const header = await check(parts, read, options)
  const name = options.as ?? header.thread.name
  const target = { projectId, projectName: project, thread: name }
  await parts.ensureProjectName()
  const { threadId } = await store.inProject(projectId, (tx) => beginImport(tx, target, header))
  const known: ImportedStates = new Map()
  const added: Partial<Record<ExportRecord['type'], number>> = {}
  let messages = 0
  for await (const batch of batchesOf(recordsOf(read()))) {
    const count = await store.inProject(projectId, (tx) => write(tx, { threadId, name, known, batch }))
    added[batch.type] = (added[batch.type] ?? 0) + count
    if (batch.type !== 'message') continue
    messages += batch.records.length
    options.onProgress?.(messages)
  }
  await store.inProject(projectId, (tx) => finishImport(tx, { threadId, header }))
  return { thread: name, agent: header.agent.name, added, messages }
}

/** Reads the whole file without writing anything. */
async function check(
  { store, projectId }: EngineContext,
  read: () => AsyncIterable<string>,
  { as }: ImportThreadOptions,
): Promise<ExportRecordOf<'thread'>> {
  if (as !== undefined) parse(nameSchema, as, 'as')
  let header: ExportRecordOf<'thread'> | null = null
  let [place, count, headSeq] = [0, 0, 0]
  let isWhole = false
  const fault = (rule: string, received: unknown) => validationError(`line ${count + 1}`, rule, received, BROKEN_HINT)
  for await (const batch of batchesOf(recordsOf(read()))) {
    for (const record of batch.records) {
      const at = exportRecordTypes.indexOf(record.type)
      if (isWhole) throw fault('must not come after the end', record.type)
      if (header === null && record.type !== 'thread') throw fault('must be the record of the thread', record.type)
      if (at < place || (header !== null && at === 0)) throw fault('is not allowed here', record.type)
      place = at
      if (record.type === 'thread') header = record
      if (record.type === 'message' && record.seq !== ++headSeq) throw fault(`must be message ${headSeq}`, record.seq)
      if (record.type === 'end') {
        if (record.records !== count) throw fault(`must count ${count} records`, record.records)
        isWhole = true
      }
      count++
    }
    if (batch.type === 'message' && header !== null) {
      const name = as ?? header.thread.name
      const threadId = threadIdOf(projectId, name)
      const given = batch.records as ExportRecordOf<'message'>[]
      await store.inProject(projectId, (tx) => checkMessages(tx, { threadId, name, records: given }))
    }
  }
  if (header === null || !isWhole) throw fault('must be the end record: the file is truncated', undefined)
  return header
}

interface Writing {
  readonly threadId: string
  readonly name: string
  readonly known: ImportedStates
  readonly batch: Batch
}

async function write(tx: Tx, { threadId, name, known, batch }: Writing): Promise<number> {
  const of = <Type extends ExportRecord['type']>(type: Type) =>
    batch.records.filter((record): record is ExportRecordOf<Type> => record.type === type)
  switch (batch.type) {
    case 'threadVersion':
    case 'process':
    case 'runningProcess':
    case 'iteration':
    case 'progressSummary':
    case 'clear':
    case 'undone':
    case 'pin':
    case 'block':
      return await importRows(tx, { threadId, type: batch.type, records: of(batch.type) })
    case 'fact':
      return await importFacts(tx, { threadId, records: of('fact') })
    case 'toolServer':
      return await importToolServers(tx, { threadId, records: of('toolServer') })
    case 'item':
      return await importItems(tx, { threadId, records: of('item') })
    case 'threadItem':
      return await importThreadItems(tx, { threadId, records: of('threadItem') })
    case 'content':
      await importContents(
        tx,
        of('content').map(({ text }) => text),
      )
      return 0
    case 'archive':
      return await importArchive(tx, { threadId, records: of('archive') })
    case 'state':
      return await importStates(tx, { threadId, records: of('state'), known })
    case 'pruning':
      return await importPrunings(tx, { threadId, records: of('pruning'), known })
    case 'part':
      await importPartContents(
        tx,
        of('part').map(({ data }) => Buffer.from(data, 'base64')),
      )
      return 0
    case 'message':
      return await importMessages(tx, { threadId, name, records: of('message') })
    case 'thread':
    case 'end':
      return 0
  }
}
