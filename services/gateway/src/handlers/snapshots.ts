import type { snapshotOperations } from '@heddle/contracts'
import type { Handlers } from '../http/handler.js'
import { readKey } from '../http/idempotency.js'
import { readPrefer } from '../http/prefer.js'

export const snapshotHandlers: Handlers<typeof snapshotOperations> = {
  async saveSnapshot({ client, params, body, headers, signal }) {
    const { waitMs: deadlineMs } = readPrefer(headers['prefer'])
    const idempotencyKey = readKey(headers['idempotency-key'])
    return await client.snapshots.save({ ...params, ...body }, { deadlineMs, signal, idempotencyKey })
  },
  listSnapshots: ({ client, params, query }) => client.snapshots.history(params.agent, query),
  getSnapshot: ({ client, params }) => client.snapshots.get(params.snapshot),
  restoreSnapshot: ({ client, params, signal }) => client.snapshots.restore(params.snapshot, { signal }),
  restoreSnapshotFile: ({ client, params, body, signal }) =>
    client.snapshots.restoreFile(params.agent, body, { signal }),
}
