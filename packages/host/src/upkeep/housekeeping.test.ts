import type { Queues } from '@heddle/queue'
import { Limiter } from '@heddle/runtime'
import type { ErasureTarget, Store } from '@heddle/store'
import { expect, test } from 'vitest'
import { ManualClock } from '../../../../test/support/src/manual-clock.js'
import { startHousekeeping } from './housekeeping.js'

const forEver = {
  deliveredMinutes: null,
  contextsDays: null,
  contextItemsDays: null,
  eventsDays: null,
  keptLanesDays: null,
  voidStatesDays: null,
  summaryCallsDays: null,
  proxiedRequestsDays: null,
  proxiedConversationsDays: null,
  deadLettersDays: null,
  tombstonesDays: null,
}

test('an erasure that cannot be finished does not block later ones', async () => {
  const targets = ['stuck', 'next'].map((targetId): ErasureTarget => ({ projectId: 'p', kind: 'thread', targetId }))
  const warnings: unknown[] = []
  let tries = 0
  const housekeeping = startHousekeeping({
    // A thread without a tombstone has been erased already.
    store: {
      asReconciler: async () => targets,
      databases: [{ asReconciler: async () => targets }],
      inProject: async () => true,
      erasures: new Limiter({}),
    } as unknown as Store,
    queues: {
      wake: async () => {},
      releaseSpace: async () => 0,
      removeJobs: async () => {
        if (tries++ === 0) throw new Error('the first one fails')
        return 0
      },
    } as unknown as Queues,
    clock: new ManualClock(),
    log: { info() {}, warn: (fields: unknown) => warnings.push(fields) } as never,
    retention: forEver,
    snapshotsFolder: '/nowhere',
    everyMs: 60_000,
    patienceMs: 0,
  })
  expect(await housekeeping.runOnce()).toEqual({
    erasures: 1,
    removed: {},
    // The store above finds the same two targets whatever is searched.
    pins: 2,
    files: { removed: 0, rewritten: 0 },
    shrunk: 0,
  })
  expect(warnings).toHaveLength(1)
  await housekeeping.close()
})
