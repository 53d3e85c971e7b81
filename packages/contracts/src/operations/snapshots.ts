import { agentParamsSchema } from '../http/agents.js'
import { pageQuerySchema } from '../http/common.js'
import {
  restoredSnapshotSchema,
  snapshotBodySchema,
  snapshotFileBodySchema,
  snapshotPageSchema,
  snapshotParamsSchema,
  snapshotSummarySchema,
} from '../http/snapshots.js'
import { limits } from '../primitives/limits.js'
import { operation } from './operation.js'

export const snapshotOperations = {
  saveSnapshot: operation({
    method: 'POST',
    path: '/v1/agents/:agent/snapshots',
    tag: 'snapshots',
    needs: 'produce',
    repeat: 'by-key',
    stage: 'assemble',
    summary: 'Save the window of all threads of an agent, with a summary of them',
    description: 'Nothing is cleared. If the summarizer fails, the snapshot is saved without a summary.',
    params: agentParamsSchema,
    body: snapshotBodySchema.optional(),
    headers: {
      'Idempotency-Key':
        'A repeat with the same key is the same snapshot, or fails in the same way, except after a timeout. Another description with the same key is a conflict.',
      Prefer: '`wait=N`: wait at most N seconds for it, 120 if it is left out.',
    },
    answers: { 201: { description: 'The snapshot.', schema: snapshotSummarySchema } },
  }),
  listSnapshots: operation({
    method: 'GET',
    path: '/v1/agents/:agent/snapshots',
    tag: 'snapshots',
    needs: 'read',
    repeat: 'idempotent',
    summary: 'The saved windows of an agent, newest first',
    params: agentParamsSchema,
    query: pageQuerySchema,
    answers: { 200: { description: 'A page of snapshots.', schema: snapshotPageSchema } },
  }),
  getSnapshot: operation({
    method: 'GET',
    path: '/v1/snapshots/:snapshot',
    tag: 'snapshots',
    needs: 'read',
    repeat: 'idempotent',
    summary: 'A saved window with its messages, in the form of its file',
    params: snapshotParamsSchema,
    answers: { 200: { description: 'The snapshot.', schema: snapshotFileBodySchema } },
  }),
  restoreSnapshot: operation({
    method: 'POST',
    path: '/v1/snapshots/:snapshot/restore',
    tag: 'snapshots',
    needs: 'produce',
    repeat: 'idempotent',
    summary: 'Restore the messages of a saved window',
    description: 'Messages that the window already shows are unchanged: restoring again adds nothing.',
    params: snapshotParamsSchema,
    answers: { 200: { description: 'The counts of restored messages.', schema: restoredSnapshotSchema } },
  }),
  restoreSnapshotFile: operation({
    method: 'POST',
    path: '/v1/agents/:agent/snapshots/restore',
    tag: 'snapshots',
    needs: 'produce',
    repeat: 'idempotent',
    summary: "Restore the messages of a snapshot's file",
    description:
      'Messages of threads that the agent still has are restored in these, those of others in new threads `session-...`. Erased messages stay erased; restoring again adds nothing.',
    params: agentParamsSchema,
    body: snapshotFileBodySchema,
    bodyBytesMax: limits.httpBodyBytesMax,
    answers: { 200: { description: 'The counts of restored messages.', schema: restoredSnapshotSchema } },
  }),
}
