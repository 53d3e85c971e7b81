import { randomUUID } from 'node:crypto'
import { agentIdOf, projectIdOf, threadIdOf } from '@heddle/core'
import { beginMessageErasure, continueErasure } from '@heddle/store'
import { expect, test } from 'vitest'
import { heldTransaction, whenBlocked } from '../store/erasure/erasure-support.js'
import { prepared, storeOfTests } from '../store/support.js'
import { PROJECT_NAME, said } from './support.js'

const database = storeOfTests()
const projectId = projectIdOf(PROJECT_NAME)

test('an erasure of messages that waits for a merge of postings does not hold the thread of its messages', async () => {
  const place = { agent: 'merged', thread: 'merged' }
  const threadId = threadIdOf(projectId, place.thread)
  await said(database, place, [prepared({ content: 'loom one' }), prepared({ content: 'loom two' })])
  const merge = await heldTransaction(
    database.store,
    (tx) => tx`select pg_advisory_xact_lock(46804681, hashtext(${agentIdOf(projectId, place.agent)}))`,
  )
  const erasureId = randomUUID()
  const range = { fromSeq: 1, toSeq: 1 }
  await database.store.inProject(projectId, (tx) => beginMessageErasure(tx, { erasureId, threadId, range }))
  const erasing = continueErasure(database.store, { projectId, kind: 'messages', targetId: erasureId })
  await whenBlocked(database)
  // As the next messages are indexed.
  const lock = database.store.inProject(
    projectId,
    (tx) => tx`
      select number from heddle.posting_threads where thread_id = ${threadId}
      for no key update nowait`,
  )
  await expect(lock).resolves.toHaveLength(1)
  await merge.commit()
  await erasing
})
