import { createAssembler } from '@heddle/assemble'
import { createLogger, systemClock } from '@heddle/runtime'
import { loadContext, type Store } from '@heddle/store'
import { expect, test } from 'vitest'
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

function workerOn(store: Store) {
  const log = createLogger({ level: 'silent', name: 'test' })
  const assembler = createAssembler({ store, settings: { rollingWindow: null }, clock: systemClock, log })
  return ({ contextId, request }: { contextId: string; request: { thread: string } }) => {
    const asked = { request, deadlineAtMs: Date.now() + 60_000 }
    const job = { jobId: newId(), attempt: 1, attemptsMax: 1, signal: new AbortController().signal }
    return assembler({ ...job, payload: { projectId: PROJECT, contextId, asked } }, { publish: () => {} })
  }
}
