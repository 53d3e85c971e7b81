import { randomUUID } from 'node:crypto'
import { projectIdOf } from '@heddle/core'
import {
  archiveEntries,
  beginErasure,
  continueErasure,
  findUnfinishedErasures,
  loadErasure,
  loadSnapshot,
  loadThread,
  readArchiveContent,
  type Store,
  type Tx,
} from '@heddle/store'
import { insertSnapshot } from '@heddle/test-support/samples/insert-snapshot'
import { describe, expect, it } from 'vitest'
import { append, appendOne, PROJECT, prepared, RECEIVED_AT_MS, storeOfTests, type TestStore } from '../support.js'
import {
  agentTarget,
  asOwner,
  erase,
  freshThread,
  nothing,
  rowsBy,
  type TestThread,
  threadTarget,
} from './erasure-support.js'

const database = storeOfTests()

const inProject: TestStore['store']['inProject'] = (projectId, work) => database.store.inProject(projectId, work)

/** A store whose process dies after this many transactions. */
function dyingStore(store: Store, transactions: number): Store {
  let left = transactions
  return {
    ...store,
    inProject(projectId, work, options) {
      if (left-- === 0) throw new Error('killed')
      return store.inProject(projectId, work, options)
    },
  }
}

function countingStore(store: Store): Store & { readonly transactions: number } {
  let transactions = 0
  return {
    ...store,
    get transactions() {
      return transactions
    },
    inProject(projectId, work, options) {
      transactions++
      return store.inProject(projectId, work, options)
    },
  }
}

const begin = (thread: TestThread) => inProject(PROJECT, (tx) => beginErasure(tx, threadTarget(thread)))
const erasureOf = (thread: TestThread) => inProject(PROJECT, (tx) => loadErasure(tx, threadTarget(thread)))

describe('an erasure', () => {
  it('hides the thread from its tombstone on, before anything is removed, and does not affect other threads', async () => {
    const [thread, other] = [await freshThread(database.store), await freshThread(database.store)]
    expect(await begin(thread)).toBe(true)
    const load = ({ threadId }: TestThread) => inProject(PROJECT, (tx) => loadThread(tx, { threadId }))
    expect(await load(thread)).toBeNull()
    expect(await load(other)).not.toBeNull()
    expect(await erasureOf(thread)).toMatchObject({ finishedAtMs: null, removed: {} })
  })

  it('of an unknown target does not begin', async () => {
    const target = { projectId: PROJECT, kind: 'thread', targetId: randomUUID() } as const
    expect(await inProject(PROJECT, (tx) => beginErasure(tx, target))).toBe(false)
    expect(await inProject(PROJECT, (tx) => loadErasure(tx, target))).toBeNull()
  })

  it('runs in small steps, can be killed after any of them, and counts each removed row once', async () => {
    const thread = await freshThread(database.store, 2_500)
    await begin(thread)
    const counting = countingStore(database.store)
    for (let transactions = 1; (await erasureOf(thread))?.finishedAtMs === null; transactions++) {
      await continueErasure(dyingStore(counting, 1 + (transactions % 2)), threadTarget(thread)).catch(() => {})
    }
    expect(counting.transactions).toBeGreaterThanOrEqual(4)
    expect((await erasureOf(thread))?.removed).toEqual({ threads: 1, messages: 2_500 })
    const left = await rowsBy(database.url, 'thread_id', thread.threadId)
    expect(left).toEqual(nothing(left))
  })

  it('removes one page of messages per step', async () => {
    const thread = await freshThread(database.store, 2_500)
    await begin(thread)
    const removed: number[] = []
    for (;;) {
      await continueErasure(dyingStore(database.store, 1), threadTarget(thread)).catch(() => {})
      const erasure = await erasureOf(thread)
      removed.push(erasure?.removed['messages'] ?? 0)
      if (erasure?.finishedAtMs !== null) break
    }
    expect([...new Set(removed)]).toEqual([0, 1_000, 2_000, 2_500])
  })

  it('is found by other processes until it is finished', async () => {
    const thread = await freshThread(database.store)
    await begin(thread)
    const found = async (begunBeforeMs: number) => {
      const unfinished = await findUnfinishedErasures(database.store, { limit: 1_000, begunBeforeMs })
      return unfinished.filter(({ targetId }) => targetId === thread.threadId)
    }
    const begunAtMs = (await erasureOf(thread))?.begunAtMs ?? 0
    expect(await found(begunAtMs - 1)).toEqual([])
    expect(await found(begunAtMs)).toEqual([threadTarget(thread)])
    await continueErasure(database.store, threadTarget(thread))
    expect(await found(begunAtMs)).toEqual([])
  })

  it('can be continued by several processes at once', async () => {
    const threads = [await freshThread(database.store, 1_500)]
    threads.push(await freshThread(database.store, 1_500, threads[0]?.agent))
    const [first, second] = threads
    if (!first || !second) throw new Error('there are no threads')
    await inProject(PROJECT, (tx) => beginErasure(tx, agentTarget(first)))
    const target = agentTarget(first)
    await Promise.all([1, 2, 3].map(() => continueErasure(database.store, target)))
    const erasure = await inProject(PROJECT, (tx) => loadErasure(tx, target))
    expect(erasure?.finishedAtMs).not.toBeNull()
    expect(erasure?.removed).toMatchObject({ threads: 2, messages: 3_000, agents: 1 })
  })

  it('of an agent does not finish before its threads, also when another process starts one of them meanwhile', async () => {
    const thread = await freshThread(database.store, 1_500)
    const target = agentTarget(thread)
    await inProject(PROJECT, (tx) => beginErasure(tx, target))
    let isBegun = false
    /** Between the first two statements that look up parts, another process runs its first step. */
    const looking = (tx: Tx): Tx =>
      new Proxy(tx, {
        apply(statement, self, given: [TemplateStringsArray]) {
          const query = Reflect.apply(statement, self, given)
          if (isBegun || !given[0].join('').includes('limit 1')) return query
          isBegun = true
          return query.then(async (found: unknown) => {
            await begin(thread)
            await continueErasure(dyingStore(database.store, 1), threadTarget(thread)).catch(() => {})
            return found
          })
        },
      })
    const store: Store = {
      ...database.store,
      inProject: (projectId, work, options) => database.store.inProject(projectId, (tx) => work(looking(tx)), options),
    }
    await continueErasure(store, target)
    expect(isBegun).toBe(true)
    const erasure = await inProject(PROJECT, (tx) => loadErasure(tx, target))
    expect(erasure?.removed).toMatchObject({ threads: 1, messages: 1_500, agents: 1 })
    const left = await rowsBy(database.url, 'thread_id', thread.threadId)
    expect(left).toEqual(nothing(left))
  })

  it('of a project does not affect other projects', async () => {
    const projectId = projectIdOf('to be erased')
    await appendOne(database.store, append([prepared()]), projectId)
    const stays = await freshThread(database.store)
    await erase(database.store, { projectId, kind: 'project', targetId: projectId })
    const left = await rowsBy(database.url, 'project_id', projectId)
    expect(left).toEqual(nothing(left))
    expect((await rowsBy(database.url, 'thread_id', stays.threadId))['messages']).toBe(3)
  })

  it('finds the rows of a thread by an index in every table', async () => {
    const tables = await asOwner(
      database.url,
      (sql) => sql<{ name: string }[]>`
        select columns.table_name as name
        from information_schema.columns as columns
        where columns.table_schema = 'heddle' and columns.column_name = 'thread_id'
          and columns.table_name <> 'tombstones'
          and not exists (
            select from pg_index as index
            join pg_class as class on class.oid = index.indrelid and class.relname = columns.table_name
            join pg_attribute as attribute
              on attribute.attrelid = class.oid and attribute.attnum = index.indkey[0] and attribute.attname = 'thread_id')`,
    )
    expect(tables).toEqual([])
  })
})

describe('archived contents', () => {
  it('are removed with the last entry that refers to them', async () => {
    const [gone, stays] = [await freshThread(database.store), await freshThread(database.store)]
    const archive = ({ threadId, messageIds }: TestThread, content: string, index: number) =>
      inProject(PROJECT, (tx) =>
        archiveEntries(tx, [
          {
            threadId,
            messageId: messageIds[index] ?? '',
            contentType: 'bash',
            summary: 's',
            content,
            filePaths: [],
            toolName: null,
            tokenCount: 1,
            originalCreatedAtMs: 0,
          },
        ]),
      )
    await archive(gone, 'shared', 0)
    await archive(gone, 'its own', 1)
    await archive(stays, 'shared', 0)
    await erase(database.store, threadTarget(gone))
    const contents = await inProject(
      PROJECT,
      (tx) =>
        tx<{ hash: Uint8Array; referenceCount: number }[]>`select hash, reference_count from heddle.archive_contents`,
    )
    expect(contents.map(({ referenceCount }) => referenceCount)).toEqual([1])
    const [left] = contents
    expect(await inProject(PROJECT, (tx) => readArchiveContent(tx, left?.hash ?? new Uint8Array()))).toBe('shared')
    await erase(database.store, threadTarget(stays))
    expect(await inProject(PROJECT, (tx) => tx`select from heddle.archive_contents`)).toHaveLength(0)
  })
})

describe('a snapshot of several threads', () => {
  it('is rewritten without the erased thread, and gets a new summary', async () => {
    const gone = await freshThread(database.store)
    const stays = await freshThread(database.store, 3, gone.agent)
    const timestamp = new Date(RECEIVED_AT_MS).toISOString()
    const file = {
      session_id: randomUUID(),
      timestamp,
      description: null,
      summary: 'told of all',
      message_count: 2,
      window_start: null,
      window_end: timestamp,
      messages: [gone, stays].map(({ threadId, thread }) => ({
        id: randomUUID(),
        thread_id: threadId,
        role: 'user' as const,
        content: thread,
        timestamp,
      })),
    }
    await inProject(PROJECT, (tx) => insertSnapshot(tx, { agentId: gone.agentId, fileName: 'f', file }))
    await erase(database.store, threadTarget(gone))
    const [row] = await inProject(
      PROJECT,
      (tx) => tx`select needs_summary, message_count, summary from heddle.snapshots where id = ${file.session_id}`,
    )
    expect(row).toMatchObject({ needsSummary: true, messageCount: 1 })
    const kept = await inProject(PROJECT, (tx) => loadSnapshot(tx, { id: file.session_id }))
    expect(kept).toMatchObject({ message_count: 1, summary: row?.['summary'], messages: [{ content: stays.thread }] })
    expect(kept?.summary).not.toContain('told')
  })
})
