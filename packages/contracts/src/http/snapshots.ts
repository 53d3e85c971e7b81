import { z } from 'zod'
import { idSchema } from '../primitives/names.js'
import { snapshotFileSchema } from '../threads/snapshot-file.js'
import { restoredSchema, snapshotRequestSchema, snapshotSchema } from '../threads/snapshots.js'
import { named, pageSchema } from './common.js'

export const snapshotParamsSchema = z.strictObject({ snapshot: idSchema })
/** The agent is in the path. */
export const snapshotBodySchema = named('SnapshotBody', snapshotRequestSchema.omit({ agent: true }))
export const snapshotSummarySchema = named('Snapshot', snapshotSchema)
export const snapshotPageSchema = named('SnapshotPage', pageSchema(snapshotSummarySchema))
export const restoredSnapshotSchema = named('RestoredSnapshot', restoredSchema)

export const snapshotFileBodySchema = named('SnapshotFile', snapshotFileSchema)
