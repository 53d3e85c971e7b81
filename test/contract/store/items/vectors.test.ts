import {
  appendVectors,
  listVectorThreads,
  loadModelCoverage,
  loadVectorStanding,
  loadVectors,
  retireOtherModels,
  type Tx,
} from '@heddle/store'
import { beforeAll, expect, test } from 'vitest'
import { freshThread } from '../erasure/erasure-support.js'
import { freshStore, OTHER_PROJECT, PROJECT, type TestStore } from '../support.js'

let database: TestStore
beforeAll(async () => {
  database = await freshStore()
  return database.drop
})

const inProject = <T>(work: (tx: Tx) => Promise<T>) => database.store.inProject(PROJECT, work)
const chunk = (seq: number, ...values: number[]) => ({ seq, from: 0, to: 5, vector: Int8Array.from(values) })
const firsts = (loaded: readonly { places: readonly { seq: number }[]; vectors: Int8Array }[]) =>
  loaded
    .flatMap(({ places, vectors }) => places.map(({ seq }, index) => [seq, vectors[2 * index], vectors[2 * index + 1]]))
    .sort(([left = 0], [right = 0]) => left - right)

test('vectors of a thread are read in the order of their messages, from any message on', async () => {
  const { threadId, agentId } = await freshThread(database.store)
  const some = { threadId, agentId, model: 'm' }
  await inProject(async (tx) => {
    expect(
      await appendVectors(tx, { ...some, fromSeq: 0, toSeq: 2, chunks: [chunk(1, 1, -1), chunk(2, -128, 127)] }),
    ).toBe(true)
    expect(await appendVectors(tx, { ...some, fromSeq: 2, toSeq: 5, chunks: [chunk(4, 4, -4)] })).toBe(true)
    const load = (afterSeq: number) => loadVectors(tx, { model: 'm', threads: [{ threadId, afterSeq }] })
    expect(firsts(await load(0))).toEqual([
      [1, 1, -1],
      [2, -128, 127],
      [4, 4, -4],
    ])
    expect(firsts(await load(2))).toEqual([[4, 4, -4]])
    expect(await load(4)).toEqual([])
    expect(await listVectorThreads(tx, { agentId, model: 'm' })).toEqual([{ threadId, toSeq: 5, chunks: 3 }])
  })
  const elsewhere = await database.store.inProject(OTHER_PROJECT, (tx) =>
    loadVectors(tx, { model: 'm', threads: [{ threadId, afterSeq: 0 }] }),
  )
  expect(elsewhere).toEqual([])
})

test('one of two workers that begin at the same cursor adds its vectors', async () => {
  const { threadId, agentId } = await freshThread(database.store)
  const add = (fromSeq: number, toSeq: number) =>
    inProject((tx) =>
      appendVectors(tx, { threadId, agentId, model: 'm', fromSeq, toSeq, chunks: [chunk(toSeq, 1, 2)] }),
    )
  expect(await add(1, 2)).toBe(false)
  expect((await Promise.all([add(0, 1), add(0, 1)])).sort()).toEqual([false, true])
  expect(await add(0, 2)).toBe(false)
  expect(await add(1, 2)).toBe(true)
})

test('small rows of a slowly growing thread are merged without loss', async () => {
  const { threadId, agentId } = await freshThread(database.store)
  for (let seq = 1; seq <= 40; seq++) {
    const added = { threadId, agentId, model: 'm', fromSeq: seq - 1, toSeq: seq, chunks: [chunk(seq, seq, -seq)] }
    await inProject((tx) => appendVectors(tx, added))
  }
  await inProject(async (tx) => {
    const loaded = await loadVectors(tx, { model: 'm', threads: [{ threadId, afterSeq: 0 }] })
    expect(loaded.length).toBe(10)
    expect(firsts(loaded)).toEqual(Array.from({ length: 40 }, (_, index) => [index + 1, index + 1, -index - 1]))
  })
})

test('vectors of the old model are deleted once the new one covers all threads of the agent, and not before', async () => {
  const first = await freshThread(database.store)
  const second = await freshThread(database.store, 3, first.agent)
  const { agentId } = first
  const add = (threadId: string, model: string, fromSeq: number, toSeq: number) =>
    inProject((tx) => appendVectors(tx, { threadId, agentId, model, fromSeq, toSeq, chunks: [chunk(toSeq, 1, 2)] }))
  const coverage = () => inProject((tx) => loadModelCoverage(tx, { agentId }))
  await add(first.threadId, 'old', 0, 3)
  await add(second.threadId, 'old', 0, 3)
  expect(await coverage()).toEqual([{ model: 'old', threads: 2, chunks: 2, threadsBehind: 0 }])

  await add(first.threadId, 'new', 0, 3)
  await add(second.threadId, 'new', 0, 2)
  expect(await coverage()).toEqual([
    { model: 'new', threads: 2, chunks: 2, threadsBehind: 1 },
    { model: 'old', threads: 2, chunks: 2, threadsBehind: 0 },
  ])
  expect(await inProject((tx) => retireOtherModels(tx, { agentId, model: 'new' }))).toBe(false)
  expect((await coverage()).length).toBe(2)
  expect(await inProject((tx) => loadVectorStanding(tx, { threadId: second.threadId, model: 'new' }))).toEqual({
    toSeq: 2,
    hasOthers: true,
  })

  await add(second.threadId, 'new', 2, 3)
  await inProject((tx) => retireOtherModels(tx, { agentId, model: 'new' }))
  expect(await coverage()).toEqual([{ model: 'new', threads: 2, chunks: 3, threadsBehind: 0 }])
  const threads = [first, second].map(({ threadId }) => ({ threadId, afterSeq: 0 }))
  expect(await inProject((tx) => loadVectors(tx, { model: 'old', threads }))).toEqual([])
})
