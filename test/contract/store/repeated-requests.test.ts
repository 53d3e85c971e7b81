import type { ContextRequest } from '@heddle/contracts'
import { failContext, loadContext, requestContext } from '@heddle/store'
import { expect, test } from 'vitest'
import { workerOn } from './assembling.js'
import { freshThread } from './erasure/erasure-support.js'
import { newId, PROJECT, storeOfTests } from './support.js'

const database = storeOfTests()
const late = { code: 'TIMEOUT', detail: 'it would be answered after its deadline' } as const
const inMs = (ms: number) => Date.now() + ms

const load = (id: string) => database.store.inProject(PROJECT, (tx) => loadContext(tx, { id }))

async function requestOf(request: Omit<ContextRequest, 'thread'> = {}) {
  const { thread, threadId } = await freshThread(database.store, 8)
  const id = newId()
  const asked = (deadlineAtMs: number) => ({ threadId, request: { thread, ...request }, deadlineAtMs })
  return {
    id,
    thread,
    write: (deadlineAtMs: number) =>
      database.store.inProject(PROJECT, (tx) => requestContext(tx, { id, ...asked(deadlineAtMs) })),
    fail: (deadlineAtMs: number, error: Parameters<typeof failContext>[1]['error'] = late) =>
      database.store.inProject(PROJECT, (tx) => failContext(tx, { id, error, asked: asked(deadlineAtMs) })),
  }
}

test('a request that had too little time is built for a repeat with more', async () => {
  const { id, thread, fail } = await requestOf()
  expect(await fail(inMs(1_000))).toBe(true)
  expect(await load(id)).toMatchObject({ status: 'failed', error: late })
  expect(await workerOn(database.store)({ contextId: id, request: { thread } })).toMatchObject({ id })
  expect(await load(id)).toMatchObject({ status: 'built', error: null, result: { id } })
})

test('and requested again by its row', async () => {
  const { id, write, fail } = await requestOf()
  await fail(inMs(1_000))
  expect(await write(inMs(500))).toMatchObject({ isNew: false })
  expect(await load(id)).toMatchObject({ status: 'failed' })
  const deadlineAtMs = inMs(60_000)
  expect(await write(deadlineAtMs)).toMatchObject({ isNew: true })
  expect(await load(id)).toMatchObject({ status: 'requested', error: null, deadlineAtMs })
})

test('one that failed for another reason stays as it is', async () => {
  const { id, thread, write, fail } = await requestOf()
  const error = { code: 'BUDGET_TOO_SMALL', detail: 'nothing fits' } as const
  await fail(inMs(1_000), error)
  expect(await workerOn(database.store)({ contextId: id, request: { thread } })).toBeUndefined()
  expect(await write(inMs(60_000))).toMatchObject({ isNew: false })
  expect(await load(id)).toMatchObject({ status: 'failed', error })
})

test('a repeat with less time fails without the request', async () => {
  const { id, write, fail } = await requestOf()
  await write(inMs(60_000))
  expect(await fail(inMs(1_000))).toBe(false)
  expect(await load(id)).toMatchObject({ status: 'requested' })
})

test.each([0, 3])('another request under its id does not replace it, %s contexts after the first', async (rounds) => {
  const { id, thread, write } = await requestOf({ format: 'anthropic' })
  const build = workerOn(database.store)
  const other = { thread, format: 'openai-chat' as const }
  for (let round = 0; round < rounds; round++) await build({ contextId: newId(), request: other })
  await write(inMs(60_000))
  await build({ contextId: id, request: other })
  expect(await load(id)).toMatchObject({ request: { thread, format: 'anthropic' }, result: { format: 'anthropic' } })
})
