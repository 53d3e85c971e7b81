import {
  type Expiry,
  failContext,
  insertDeadLetter,
  insertState,
  loadEventsAfter,
  type NewContextState,
  type RetainedKind,
  removeExpired,
  requestContext,
} from '@heddle/store'
import { describe, expect, it } from 'vitest'
import { asOwner, erase, freshThread, rowsBy, threadTarget } from './erasure/erasure-support.js'
import { newId, OTHER_PROJECT, PROJECT, RECEIVED_AT_MS, storeOfTests, type TestStore } from './support.js'

const database = storeOfTests()

const inProject: TestStore['store']['inProject'] = (projectId, work) => database.store.inProject(projectId, work)
const DAY_MS = 86_400_000
const OLD_MS = Date.now() - 10 * DAY_MS

/** Makes rows look this old. */
const age = (table: string, column: string, key: string, ids: readonly (string | number)[], atMs: number) =>
  asOwner(
    database.url,
    (sql) => sql`
      update heddle.${sql(table)} set ${sql(column)} = ${new Date(atMs)} where ${sql(key)} in ${sql(ids as string[])}`,
  )

async function removeAll(kind: RetainedKind, fields: Partial<Expiry> = {}): Promise<number[]> {
  const steps: number[] = []
  for (;;) {
    const removed = await removeExpired(database.store, {
      kind,
      beforeMs: Date.now() - 5 * DAY_MS,
      limit: 100,
      ...fields,
    })
    if (removed === 0) return steps
    steps.push(removed)
  }
}

const idsOf = async (table: string, column = 'id') =>
  await asOwner(database.url, async (sql) =>
    (await sql`select ${sql(column)} as id from heddle.${sql(table)}`).map(({ id }) => id as string),
  )

function stateOf(threadId: string, generation: number): NewContextState {
  const position = { orderedAtMs: RECEIVED_AT_MS, ordinal: 0, id: newId() }
  const fields = { lane: 'long', strategy: 'sandwich', clearEpoch: 0, replaces: null, status: 'ready' } as const
  const covered = { coveredFrom: null, coveredTo: null, coveredCount: 0, coveredTokens: 0 }
  const summary = { summary: null, summaryTokens: 0, summarizer: null }
  return {
    id: newId(),
    threadId,
    generation,
    point: position,
    headSeq: 1,
    topIds: [],
    ...fields,
    ...covered,
    ...summary,
  }
}

describe('retention', () => {
  it('removes old answered contexts of all projects, in steps, and no message', async () => {
    const thread = await freshThread(database.store)
    const ask = async (projectId: string) => {
      const id = newId()
      const request = { id, threadId: thread.threadId, request: { thread: thread.thread }, deadlineAtMs: Date.now() }
      await inProject(projectId, (tx) => requestContext(tx, request))
      return id
    }
    const answer = async (projectId: string) => {
      const id = await ask(projectId)
      await inProject(projectId, (tx) => failContext(tx, { id, error: { code: 'INTERNAL', detail: 'x' } }))
      return id
    }
    const old = [await answer(PROJECT), await answer(PROJECT), await answer(OTHER_PROJECT)]
    const waiting = await ask(PROJECT)
    await age('contexts', 'requested_at', 'id', [...old, waiting], OLD_MS)
    const fresh = await answer(PROJECT)
    expect(await removeAll('contexts', { limit: 2 })).toEqual([2, 1])
    expect((await idsOf('contexts')).sort()).toEqual([waiting, fresh].sort())
    expect((await rowsBy(database.url, 'thread_id', thread.threadId))['messages']).toBe(3)
  })

  it('removes old events from the start of each log, so that the rest has no gaps', async () => {
    const append = (projectId: string, count: number) =>
      asOwner(
        database.url,
        (sql) => sql`
          insert into heddle.events (project_id, number, topic, created_at)
          select ${projectId}, number, 'context.built', ${new Date(OLD_MS)} from generate_series(1, ${count}::integer) as number`,
      )
    await inProject(
      OTHER_PROJECT,
      (tx) => tx`insert into heddle.projects (project_id, name) values (${OTHER_PROJECT}, 'o')`,
    )
    await append(PROJECT, 250)
    await append(OTHER_PROJECT, 30)
    await age('events', 'created_at', 'number', [241, 242, 243, 244, 245, 246, 247, 248, 249, 250], Date.now())
    expect(await removeAll('events')).toEqual([130, 100, 40])
    const left = await inProject(PROJECT, (tx) => loadEventsAfter(tx, { projectId: PROJECT, number: 0, limit: 500 }))
    expect(left.map(({ number }) => number)).toEqual([241, 242, 243, 244, 245, 246, 247, 248, 249, 250])
  })

  it('removes compactions that have long been void with their prunings, and none in force', async () => {
    const { threadId } = await freshThread(database.store)
    const states = [1, 2, 3].map((generation) => stateOf(threadId, generation))
    await inProject(PROJECT, async (tx) => {
      for (const state of states) {
        await insertState(tx, state)
        await tx`
          insert into heddle.prunings (thread_id, state_id, message_id, action, text, tokens, reason, archive_id)
          values (${threadId}, ${state.id}, ${newId()}, 'remove', '', 0, '', ${newId()})`
      }
      await tx`update heddle.context_states set status = 'void', voided_at = now() where generation > 1`
    })
    const [first, second, third] = states.map(({ id }) => id)
    await age('context_states', 'voided_at', 'id', [second ?? ''], OLD_MS)
    await age('context_states', 'created_at', 'id', [first ?? '', second ?? '', third ?? ''], OLD_MS)
    expect(await removeAll('voidStates')).toEqual([1])
    expect((await idsOf('context_states')).sort()).toEqual([first, third].sort())
    expect((await idsOf('prunings', 'state_id')).sort()).toEqual([first, third].sort())
  })

  it('removes dead letters that were sent again long ago, and keeps those that were not', async () => {
    const letter = { stage: 'ingest', threadId: null, payload: {}, attempts: 1 }
    const insert = () =>
      inProject(PROJECT, (tx) =>
        insertDeadLetter(tx, { ...letter, jobId: newId(), error: { code: 'INTERNAL', detail: 'x' } }),
      )
    const [old, recent, open] = [await insert(), await insert(), await insert()].map((id) => id ?? '')
    await age('dead_letters', 'failed_at', 'id', [old ?? '', recent ?? '', open ?? ''], OLD_MS)
    await age('dead_letters', 'redriven_at', 'id', [old ?? ''], OLD_MS)
    await age('dead_letters', 'redriven_at', 'id', [recent ?? ''], Date.now())
    expect(await removeAll('deadLetters')).toEqual([1])
    expect((await idsOf('dead_letters')).sort()).toEqual([recent, open].sort())
  })

  it('removes tombstones of erasures that finished long ago, and never those of running ones', async () => {
    const [done, recent] = [await freshThread(database.store), await freshThread(database.store)]
    await erase(database.store, threadTarget(done))
    await erase(database.store, threadTarget(recent))
    const underWay = newId()
    await inProject(PROJECT, (tx) => tx`insert into heddle.tombstones (target_id, kind) values (${underWay}, 'thread')`)
    await age('tombstones', 'finished_at', 'target_id', [done.threadId], OLD_MS)
    await age('tombstones', 'created_at', 'target_id', [done.threadId, underWay], OLD_MS)
    expect(await removeAll('tombstones')).toEqual([1])
    expect((await idsOf('tombstones', 'target_id')).sort()).toEqual([recent.threadId, underWay].sort())
  })

  it('skips rows that another process has locked', async () => {
    const { threadId, thread } = await freshThread(database.store)
    const ids = [newId(), newId()]
    for (const id of ids) {
      await inProject(PROJECT, (tx) =>
        requestContext(tx, { id, threadId, request: { thread }, deadlineAtMs: Date.now() }),
      )
      await inProject(PROJECT, (tx) => failContext(tx, { id, error: { code: 'INTERNAL', detail: 'x' } }))
    }
    await age('contexts', 'requested_at', 'id', ids, OLD_MS)
    const counts = await Promise.all([1, 2, 3].map(() => removeAll('contexts')))
    expect(counts.flat().reduce((sum, count) => sum + count, 0)).toBe(2)
  })

  it.each([
    ['expired_contexts', 'contexts_answered'],
    ['expired_deliveries', 'context_deliveries_time'],
    ['expired_context_items', 'context_items_unanswered'],
    ['expired_kept_lanes', 'kept_lanes_asked'],
    ['expired_void_states', 'context_states_voided'],
    ['expired_summary_calls', 'summary_calls_created'],
    ['expired_proxied_requests', 'proxied_requests_created'],
    ['expired_proxied_conversations', 'proxied_conversations_used'],
    ['expired_dead_letters', 'dead_letters_redriven'],
    ['expired_tombstones', 'tombstones_finished'],
    ['unfinished_erasures', 'tombstones_unfinished'],
    ['projects_with_expired_events', 'events_project_id_number_pk'],
  ])('%s reads the index %s', async (name, index) => {
    const plan = await asOwner(database.url, async (sql) => {
      const [source] = await sql`select prosrc from pg_proc where proname = ${name}`
      const statement = String(source?.['prosrc'])
        .replaceAll('max_rows', '100')
        .replace(/\b(before|begun_before)\b(?=\s)/g, "'2026-01-01'::timestamptz")
      return await sql.begin(async (tx) => {
        await tx`set local enable_seqscan = off`
        await tx`set local enable_bitmapscan = off`
        return await tx.unsafe(`explain ${statement}`)
      })
    })
    expect(JSON.stringify(plan)).toContain(index)
    expect(JSON.stringify(plan)).not.toContain('Sort')
  })
})
