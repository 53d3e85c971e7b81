import { findLaggingThreads, loadMessagesBySeq, loadThread, openStore, requestContext } from '@heddle/store'
import postgres from 'postgres'
import { describe, expect, it, onTestFinished } from 'vitest'
import { append, appendOne, newId, OTHER_PROJECT, PROJECT, prepared, storeOfTests } from './support.js'

const database = storeOfTests()

describe('row-level security', () => {
  it('shows a transaction only the rows of its own project', async () => {
    const { store } = database
    const own = await appendOne(store, append([prepared({ content: 'mine' })]))
    const foreign = await appendOne(store, append([prepared({ content: 'theirs' })]), OTHER_PROJECT)
    await store.inProject(PROJECT, async (tx) => {
      expect(await loadThread(tx, { threadId: own.threadId })).not.toBeNull()
      expect(await loadThread(tx, { threadId: foreign.threadId })).toBeNull()
      expect(await loadMessagesBySeq(tx, { threadId: foreign.threadId, afterSeq: 0, limit: 10 })).toEqual([])
      for (const table of ['messages', 'threads', 'agents', 'projects', 'stage_cursors', 'agent_versions']) {
        const projects = await tx<{ projectId: string }[]>`select distinct project_id from heddle.${tx(table)}`
        expect(projects).toEqual([{ projectId: PROJECT }])
      }
    })
  })

  it('shows and accepts no rows without a project', async () => {
    const { store } = database
    await appendOne(store, append([prepared()]))
    await store.asReconciler(async (tx) => {
      expect(await tx`select id from heddle.messages`).toEqual([])
      expect(await tx`select thread_id from heddle.stage_cursors`).toEqual([])
    })
    await expect(
      store.asReconciler((tx) => tx`insert into heddle.tombstones (target_id, kind) values (${newId()}, 'thread')`),
    ).rejects.toThrow()
  })

  it('refuses to write a row of another project', async () => {
    await expect(
      database.store.inProject(
        PROJECT,
        (tx) => tx`
          insert into heddle.tombstones (target_id, kind, project_id) values (${newId()}, 'thread', ${OTHER_PROJECT})`,
      ),
    ).rejects.toMatchObject({ code: 'FORBIDDEN' })
  })

  it('leaves neither role nor project behind on the connection', async () => {
    const store = openStore({ url: database.url, connectionsMax: 1 })
    onTestFinished(() => store.close())
    await store.inProject(PROJECT, (tx) => tx`select 1`)
    const inside = await store.asReconciler(
      (tx) => tx`select current_user as role, current_setting('heddle.project_id', true) as project`,
    )
    expect(inside).toEqual([{ role: 'heddle_app', project: '' }])
    const sql = postgres(database.url, { max: 1 })
    onTestFinished(() => sql.end())
    const [{ role } = { role: '' }] = await sql`select current_user as role`
    expect(role).not.toBe('heddle_app')
  })

  it('refuses an invalid project id before it reaches the database', async () => {
    await expect(database.store.inProject("' or true", async () => {})).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
    })
  })

  it('lets the reconciler read only ids across projects', async () => {
    const { store } = database
    await appendOne(store, append([prepared()]))
    const { threadId } = await appendOne(store, append([prepared()]), OTHER_PROJECT)
    await store.inProject(OTHER_PROJECT, (tx) =>
      requestContext(tx, { id: newId(), threadId, request: { thread: 'cloth' }, deadlineAtMs: Date.now() + 1_000 }),
    )
    const work = await findLaggingThreads(store, { limit: 100, nowMs: Date.now() })
    expect(new Set(work.map(({ projectId }) => projectId))).toEqual(new Set([PROJECT, OTHER_PROJECT]))
    expect(Object.keys(work[0] ?? {}).sort()).toEqual(['projectId', 'stage', 'threadId'])
  })
})
