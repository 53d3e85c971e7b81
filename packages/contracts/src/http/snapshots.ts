import { z } from 'zod'
import { idSchema } from '../primitives/names.js'
import { restoredSchema, snapshotRequestSchema, snapshotSchema } from '../threads/snapshots.js'
import { isoTimeSchema, jsonRecordSchema, named, pageSchema } from './common.js'

export const snapshotParamsSchema = z.strictObject({ snapshot: idSchema })
/** The agent stands in the path. */
export const snapshotBodySchema = named('SnapshotBody', snapshotRequestSchema.omit({ agent: true }))
export const snapshotSummarySchema = named('Snapshot', snapshotSchema)
export const snapshotPageSchema = named('SnapshotPage', pageSchema(snapshotSummarySchema))
export const restoredSnapshotSchema = named('RestoredSnapshot', restoredSchema)

/** The file of a snapshot (docs/snapshots.md#saving). */
export const snapshotFileSchema = named(
  'SnapshotFile',
  z.object({
    session_id: idSchema,
    timestamp: isoTimeSchema,
    description: z.string().nullable(),
    summary: z.string(),
    message_count: z.int(),
    window_start: isoTimeSchema.nullable(),
    window_end: isoTimeSchema,
    messages: z.array(jsonRecordSchema),
  }),
)
