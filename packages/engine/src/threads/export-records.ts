import { type ExportRecord, exportRecordSchema, validationError } from '@heddle/contracts'

export const BROKEN_HINT = 'The file is incomplete or was changed; nothing was stored. Export the thread again.'

/** Limits of the records in one write, by number and characters. */
const BATCH_RECORDS = 200
const BATCH_CHARACTERS = 4_000_000

/** The records of a file. @throws PermanentError `VALIDATION_ERROR` with the line */
export async function* recordsOf(
  lines: AsyncIterable<string>,
): AsyncGenerator<{ record: ExportRecord; characters: number }> {
  let number = 0
  for await (const line of lines) {
    number++
    if (line !== '') yield { record: readRecord(line, number), characters: line.length }
  }
}

function readRecord(line: string, number: number): ExportRecord {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    throw validationError(`line ${number}`, 'must be JSON', line, BROKEN_HINT)
  }
  const result = exportRecordSchema.safeParse(value)
  // The unparsed value is returned, because the schema would reorder the fields of objects.
  if (result.success) return value as ExportRecord
  const [issue] = result.error.issues
  const path = [`line ${number}`, ...(issue?.path ?? []).map(String)].join('.')
  throw validationError(path, issue?.message ?? 'is not valid', issue?.input, BROKEN_HINT)
}

/** Consecutive records of one type. */
export interface Batch {
  readonly type: ExportRecord['type']
  readonly records: readonly ExportRecord[]
}

export async function* batchesOf(given: ReturnType<typeof recordsOf>): AsyncGenerator<Batch> {
  let batch: ExportRecord[] = []
  let size = 0
  for await (const { record, characters } of given) {
    const [first] = batch
    const isFull = batch.length >= BATCH_RECORDS || size + characters > BATCH_CHARACTERS
    if (first && (first.type !== record.type || isFull)) {
      yield { type: first.type, records: batch }
      batch = []
      size = 0
    }
    batch.push(record)
    size += characters
  }
  const [first] = batch
  if (first) yield { type: first.type, records: batch }
}
