import type { SummaryCall } from '@heddle/contracts'
import { countSummaries, insertSummaryCalls, loadSummaryCosts, removeExpired } from '@heddle/store'
import { expect, it } from 'vitest'
import { asOwner, erase, freshThread, rowsBy, threadTarget } from '../erasure/erasure-support.js'
import { newId, OTHER_PROJECT, PROJECT, storeOfTests, type TestStore } from '../support.js'

const database = storeOfTests()

const inProject: TestStore['store']['inProject'] = (projectId, work) => database.store.inProject(projectId, work)

const call: SummaryCall = {
  purpose: 'compaction',
  provider: 'cerebras',
  model: 'llama3.1-8b',
  outcome: 'ok',
  errorCode: null,
  inputTokens: 1_000,
  outputTokens: 100,
  costUsd: 0.00011,
  durationMs: 812.4,
}
const failed: SummaryCall = {
  ...call,
  model: 'a "strange" {model}, NULL',
  outcome: 'failed',
  errorCode: 'RATE_LIMITED',
  inputTokens: null,
  outputTokens: null,
  costUsd: null,
}

const record = (threadId: string, calls: readonly SummaryCall[]) =>
  inProject(PROJECT, (tx) => insertSummaryCalls(tx, { threadId, summaryId: newId(), calls }))
const costs = (threadId: string, projectId = PROJECT) =>
  inProject(projectId, (tx) => loadSummaryCosts(tx, { threadId }))

it('the calls of summaries are added up for each thread, and counted by summary', async () => {
  const [one, other] = [await freshThread(database.store), await freshThread(database.store)]
  const startMs = Date.now() - 60_000
  await record(one.threadId, [failed, call, { ...call, costUsd: null }])
  await record(one.threadId, [failed])
  await record(other.threadId, [call])
  await record(other.threadId, [])
  expect(await costs(one.threadId)).toEqual({
    summaries: 2,
    calls: 4,
    failedCalls: 2,
    inputTokens: 2_000,
    outputTokens: 200,
    costUsd: expect.closeTo(0.00011, 8),
    callsWithoutPrice: 1,
  })
  const count = (threadId: string, sinceMs: number) =>
    inProject(PROJECT, (tx) => countSummaries(tx, { threadId, sinceMs }))
  expect(await count(one.threadId, startMs)).toBe(2)
  expect(await count(one.threadId, Date.now() + 60_000)).toBe(0)
  expect(await costs(newId())).toMatchObject({ summaries: 0, calls: 0, costUsd: 0 })
})

it('the calls of a project are not visible to another', async () => {
  const { threadId } = await freshThread(database.store)
  await record(threadId, [call])
  expect(await costs(threadId, OTHER_PROJECT)).toMatchObject({ calls: 0 })
})

it('old calls are removed, and recent ones stay', async () => {
  const { threadId } = await freshThread(database.store)
  await record(threadId, [call, call])
  await asOwner(
    database.url,
    (sql) => sql`update heddle.summary_calls set created_at = now() - interval '9 days' where thread_id = ${threadId}`,
  )
  await record(threadId, [call])
  const expiry = { kind: 'summaryCalls', beforeMs: Date.now() - 5 * 86_400_000, limit: 100 } as const
  expect(await removeExpired(database.store, expiry)).toBe(2)
  expect(await removeExpired(database.store, expiry)).toBe(0)
  expect(await costs(threadId)).toMatchObject({ calls: 1 })
})

it('an erasure removes the calls of its thread, and no call is recorded after it', async () => {
  const thread = await freshThread(database.store)
  await record(thread.threadId, [call, failed])
  await erase(database.store, threadTarget(thread))
  await record(thread.threadId, [call])
  expect((await rowsBy(database.url, 'thread_id', thread.threadId))['summary_calls']).toBe(0)
})
