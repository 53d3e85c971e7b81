import { loadContext } from '@heddle/store'
import { expect, test } from 'vitest'
import { workerOn } from './assembling.js'
import { freshThread } from './erasure/erasure-support.js'
import { heldBuilds } from './held-builds.js'
import { append, appendOne, newId, PROJECT, prepared, storeOfTests } from './support.js'

const database = storeOfTests()

test('a worker whose context another one stored first bases no later context on its own version of it', async () => {
  const { store } = database
  const { agent, thread } = await freshThread(store, 6)
  const request = { thread }
  const build = (worker: ReturnType<typeof workerOn>, contextId: string) => worker({ contextId, request })
  const slow = heldBuilds(store)
  const late = workerOn(slow.store)
  const [shared, next] = [newId(), newId()]

  const losing = build(late, shared)
  await slow.whenRead
  await appendOne(store, append([prepared(), prepared()], { agent, thread }))
  await build(workerOn(store), shared)
  slow.goOn()
  await losing
  await appendOne(store, append([prepared()], { agent, thread }))
  await build(late, next)

  const load = (rebuild: boolean) => store.inProject(PROJECT, (tx) => loadContext(tx, { id: next, rebuild }))
  expect((await load(true))?.result).toEqual((await load(false))?.result)
})
