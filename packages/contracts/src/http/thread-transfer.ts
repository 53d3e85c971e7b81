import { z } from 'zod'
import { nameSchema } from '../primitives/names.js'
import type { OutputOf } from '../primitives/output-of.js'
import { exportRecordSchema, exportRecordTypes } from '../threads/thread-export.js'
import { named } from './common.js'

/** JSON Lines: one record per line. */
export const LINES_MEDIA_TYPE = 'application/jsonl'

export const exportedRecordSchema = named('ExportRecord', exportRecordSchema)

export const importQuerySchema = z.strictObject({
  /** The name of the thread here. Default: its name in the export. */
  as: nameSchema.optional(),
})
/** The lines as one text: each is parsed when it is stored, and an error names its line. */
export const exportedLinesSchema = named('ExportedThread', z.string())

export const importedThreadSchema = named(
  'ImportedThread',
  z.object({
    thread: z.string(),
    agent: z.string(),
    /** Rows that this import added, by record type. */
    added: z.partialRecord(z.enum(exportRecordTypes), z.int()),
    /** Messages of the file. */
    messages: z.int(),
  }),
)
export type ImportedThread = OutputOf<typeof importedThreadSchema>
