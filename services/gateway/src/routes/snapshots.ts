import {
  agentParamsSchema,
  pageQuerySchema,
  restoredSnapshotSchema,
  snapshotBodySchema,
  snapshotFileSchema,
  snapshotPageSchema,
  snapshotParamsSchema,
  snapshotSummarySchema,
} from '@heddle/contracts'
import { readKey } from '../http/idempotency.js'
import { readPrefer } from '../http/prefer.js'
import { pageOptions, type Route, route } from '../http/route.js'

const tag = 'snapshots'

export const snapshotRoutes: readonly Route[] = [
  route({
    id: 'saveSnapshot',
    method: 'POST',
    path: '/v1/agents/:agent/snapshots',
    tag,
    needs: 'produce',
    stage: 'assemble',
    summary: 'Save the window of all threads of an agent, with a summary of them',
    description: 'Nothing is cleared. Where the summarizer fails, the snapshot is saved without a summary.',
    params: agentParamsSchema,
    body: snapshotBodySchema.optional(),
    headers: {
      'Idempotency-Key':
        'The same request under it again is the same snapshot, or fails as it did, unless that was for lack of time. Another description under it is a conflict.',
      Prefer: '`wait=N`: wait at most N seconds for it, 120 if it is left out.',
    },
    responses: { 201: { description: 'The snapshot.', schema: snapshotSummarySchema } },
    async handle({ client, params, body = {}, headers, signal }) {
      const { waitMs } = readPrefer(headers['prefer'])
      const options = { signal, idempotencyKey: readKey(headers['idempotency-key']) }
      const deadline = waitMs === undefined ? {} : { deadlineMs: waitMs }
      return { status: 201, body: await client.snapshots.save({ ...params, ...body }, { ...options, ...deadline }) }
    },
  }),
  route({
    id: 'listSnapshots',
    method: 'GET',
    path: '/v1/agents/:agent/snapshots',
    tag,
    needs: 'read',
    summary: 'The saved windows of an agent, newest first',
    params: agentParamsSchema,
    query: pageQuerySchema,
    responses: { 200: { description: 'A page of snapshots.', schema: snapshotPageSchema } },
    async handle({ client, params, query }) {
      return { body: await client.snapshots.history(params.agent, pageOptions(query)) }
    },
  }),
  route({
    id: 'getSnapshot',
    method: 'GET',
    path: '/v1/snapshots/:snapshot',
    tag,
    needs: 'read',
    summary: 'A saved window with its messages, in the form of its file',
    params: snapshotParamsSchema,
    responses: { 200: { description: 'The snapshot.', schema: snapshotFileSchema } },
    async handle({ client, params }) {
      return { body: await client.snapshots.get(params.snapshot) }
    },
  }),
  route({
    id: 'restoreSnapshot',
    method: 'POST',
    path: '/v1/snapshots/:snapshot/restore',
    tag,
    needs: 'produce',
    summary: 'Bring the messages of a saved window back into it',
    description: 'What the window shows already stays as it is: restoring again adds nothing.',
    params: snapshotParamsSchema,
    responses: { 200: { description: 'What was restored.', schema: restoredSnapshotSchema } },
    async handle({ client, params, signal }) {
      return { body: await client.snapshots.restore(params.snapshot, { signal }) }
    },
  }),
]
