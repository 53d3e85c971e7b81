import { agentIdOf, statusLimits, threadIdOf } from '@heddle/core'
import { listProcesses, loadActivity, loadThread, putProcess, putThread } from '@heddle/store'
import { waitFor } from '@heddle/test-support'
import postgres from 'postgres'
import { describe, expect, it } from 'vitest'
import { OTHER_PROJECT, PROJECT, storeOfTests } from '../support.js'

const database = storeOfTests()

let agents = 0
const freshAgent = () => `busy ${++agents}`

const put = async (agent: string, thread: string, details: object = {}, projectId = PROJECT) =>
  await before(
    database.store.inProject(projectId, (tx) =>
      putThread(tx, { projectId, projectName: projectId, agent, thread, ...details }),
    ),
  )
const tell = async (thread: string, name: string, status: string | undefined, ended = false) =>
  await before(
    database.store.inProject(PROJECT, (tx) =>
      putProcess(tx, { threadId: threadIdOf(PROJECT, thread), name, status, ended }),
    ),
  )
/** A change, a millisecond before the next: they are listed newest first. */
async function before<Changed>(change: Promise<Changed>): Promise<Changed> {
  const changed = await change
  const atMs = await databaseMs()
  await waitFor(async () => (await databaseMs()) > atMs)
  return changed
}
async function databaseMs(): Promise<number> {
  const [row] = await database.store.inProject(
    PROJECT,
    (tx) => tx<{ nowMs: number }[]>`select clock_timestamp()::timestamptz(3) as now_ms`,
  )
  return row?.nowMs ?? 0
}
const activityOf = (agent: string, thread: string, limits: Partial<Record<keyof typeof statusLimits, number>> = {}) =>
  database.store.inProject(PROJECT, (tx) =>
    loadActivity(tx, {
      agentId: agentIdOf(PROJECT, agent),
      threadId: threadIdOf(PROJECT, thread),
      ...statusLimits,
      ...limits,
    }),
  )
const versionsOf = (table: 'thread_versions' | 'processes', thread: string) =>
  database.store.inProject(
    PROJECT,
    (tx) => tx<{ version: number; status: string | null }[]>`
      select version, status from heddle.${tx(table)}
      where thread_id = ${threadIdOf(PROJECT, thread)} order by version`,
  )

describe('a thread', () => {
  it('is created with its title and status, and each change is a version that stays', async () => {
    const [agent, thread] = [freshAgent(), 'told']
    expect(await put(agent, thread, { title: 'Fix it', status: 'reading' })).toMatchObject({
      version: 1,
      title: 'Fix it',
      goal: null,
    })
    expect(await put(agent, thread, { status: 'writing', settings: { budget: 900 } })).toMatchObject({ version: 2 })
    expect(await put(agent, thread, { status: null })).toMatchObject({ version: 3, title: 'Fix it', status: null })
    expect(await versionsOf('thread_versions', thread)).toEqual([
      { version: 1, status: 'reading' },
      { version: 2, status: 'writing' },
      { version: 3, status: null },
    ])
    const loaded = await database.store.inProject(PROJECT, (tx) =>
      loadThread(tx, { threadId: threadIdOf(PROJECT, thread) }),
    )
    expect(loaded).toMatchObject({ title: 'Fix it', status: null, settings: { budget: 900 } })
  })

  it('that gets the same update twice, also at once, has one version', async () => {
    const [agent, thread] = [freshAgent(), 'same']
    const told = await Promise.all(Array.from({ length: 6 }, () => put(agent, thread, { status: 'on it' })))
    expect(new Set(told.map(({ version }) => version))).toEqual(new Set([1]))
    expect(await versionsOf('thread_versions', thread)).toHaveLength(1)
  })

  it('of another agent is a conflict, and stays unchanged', async () => {
    const [agent, thread] = [freshAgent(), 'owned']
    await put(agent, thread, { status: 'mine' })
    await expect(put(freshAgent(), thread, { status: 'yours' })).rejects.toMatchObject({
      code: 'CONFLICT',
      field: 'agent',
    })
    expect(await versionsOf('thread_versions', thread)).toEqual([{ version: 1, status: 'mine' }])
  })

  it('refuses a text that the store cannot hold', async () => {
    await expect(put(freshAgent(), 'odd', { status: 'half \ud800' })).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
      field: 'status',
    })
  })
})

describe('a process', () => {
  it('gets a version for each change, not for a repeat, and can run again after it ended', async () => {
    const [agent, thread] = [freshAgent(), 'processes']
    await put(agent, thread)
    for (const [status, ended] of [
      ['1 of 2', false],
      ['1 of 2', false],
      ['2 of 2', false],
      [undefined, true],
      [undefined, true],
      ['1 of 9', false],
    ] as const) {
      await tell(thread, 'tests', status, ended)
    }
    expect((await versionsOf('processes', thread)).map(({ status }) => status)).toEqual([
      '1 of 2',
      '2 of 2',
      '2 of 2',
      '1 of 9',
    ])
    const threadId = threadIdOf(PROJECT, thread)
    const [process] = await database.store.inProject(PROJECT, (tx) => listProcesses(tx, { threadId, limit: 5 }))
    expect(process).toMatchObject({ name: 'tests', version: 4, status: '1 of 9', endedAtMs: null })
  })

  it('that several writers update at once loses no version', async () => {
    const [agent, thread] = [freshAgent(), 'many at once']
    await put(agent, thread)
    await Promise.all(Array.from({ length: 8 }, (_, at) => tell(thread, 'tests', `${at} of 8`)))
    expect((await versionsOf('processes', thread)).map(({ version }) => version)).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
  })

  it('needs its thread, and a first status', async () => {
    expect(await tell('no such thread', 'tests', 'on')).toEqual({ missing: 'thread' })
    const thread = 'without processes'
    await put(freshAgent(), thread)
    expect(await tell(thread, 'tests', undefined, true)).toEqual({ missing: 'process' })
  })
})

describe('the current activity', () => {
  it('lists the other threads of the agent with a status or a running process, newest first', async () => {
    const agent = freshAgent()
    const name = (thread: string) => `${agent} ${thread}`
    await put(agent, name('own'), { status: 'asking' })
    await put(agent, name('old'), { title: 'Old', status: 'waiting' })
    await put(agent, name('quiet'), { title: 'Quiet', goal: 'no status' })
    await put(agent, name('running'))
    await tell(name('running'), 'first', 'on')
    await tell(name('running'), 'second', 'on')
    await put(agent, name('done'), { status: 'on it' })
    await put(agent, name('done'), { status: null })
    await put(agent, name('ended'))
    await tell(name('ended'), 'only', 'on')
    await tell(name('ended'), 'only', 'off', true)
    await put(freshAgent(), name('of another agent'), { status: 'elsewhere' })
    await put(agent, name('of another project'), { status: 'elsewhere' }, OTHER_PROJECT)
    await tell(name('own'), 'mine', 'on')

    expect(await activityOf(agent, name('own'))).toEqual({
      processes: [{ name: 'mine', status: 'on' }],
      moreProcesses: 0,
      threads: [
        {
          name: name('running'),
          title: null,
          goal: null,
          status: null,
          processes: [
            { name: 'second', status: 'on' },
            { name: 'first', status: 'on' },
          ],
          moreProcesses: 0,
        },
        { name: name('old'), title: 'Old', goal: null, status: 'waiting', processes: [], moreProcesses: 0 },
      ],
      moreThreads: 0,
    })
  })

  it('lists no more than the requested number, and counts the rest', async () => {
    const agent = freshAgent()
    const threads = Array.from({ length: 6 }, (_, at) => `${agent} ${at}`)
    for (const thread of threads) await put(agent, thread, { status: 'on' })
    const [own = '', other = ''] = threads
    for (let at = 0; at < 5; at++) {
      await tell(own, `process ${at}`, 'on')
      await tell(other, `process ${at}`, 'on')
    }
    const activity = await activityOf(agent, own, { threadsMax: 2, ownProcessesMax: 4, otherProcessesMax: 1 })
    expect(activity.processes.map(({ name }) => name)).toEqual(['process 4', 'process 3', 'process 2', 'process 1'])
    expect(activity).toMatchObject({ moreProcesses: 1, moreThreads: 3 })
    expect(activity.threads).toMatchObject([{ name: other, moreProcesses: 4 }, { name: threads[5] }])
  })

  it.each(['before', 'after'])(
    'of a busy agent is read without all its threads and versions, %s the server has statistics',
    async (moment) => {
      const agent = freshAgent()
      const [own, other] = [`${agent} own`, `${agent} other`]
      await put(agent, own)
      await tell(own, 'long', '0')
      await put(agent, other, { status: 'on' })
      await leaveBehind(agent, own)
      if (moment === 'after')
        await asOwner((sql) => sql`analyze heddle.threads, heddle.thread_versions, heddle.processes`)
      const read = await database.store.inProject(PROJECT, async (tx) => {
        const rows = async () =>
          Number(
            (
              await tx`
                select sum(seq_tup_read + coalesce(idx_tup_fetch, 0)) as rows
                from pg_stat_xact_user_tables where schemaname = 'heddle'`
            )[0]?.['rows'],
          )
        const before = await rows()
        const query = { agentId: agentIdOf(PROJECT, agent), threadId: threadIdOf(PROJECT, own), ...statusLimits }
        for (let run = 0; run < 7; run++) await loadActivity(tx, query)
        return ((await rows()) - before) / 7
      })
      expect(read).toBeLessThan(20)
    },
  )
})

/**
 * Threads at rest, and versions of processes of a thread. Some dozens fit into a page, and a server with statistics, which come
 * at any time, rightly reads all of it.
 */
async function leaveBehind(agent: string, thread: string): Promise<void> {
  const [agentId, threadId] = [agentIdOf(PROJECT, agent), threadIdOf(PROJECT, thread)]
  await asOwner(async (sql) => {
    await sql`
      insert into heddle.threads (id, project_id, name, code, agent_id, version)
      select gen_random_uuid(), ${PROJECT}, ${agent} || ' at rest ' || number, ${agent} || number, ${agentId}, 1
      from generate_series(1, 3000) as number`
    await sql`
      insert into heddle.thread_versions (thread_id, version, project_id, title)
      select id, 1, project_id, 'at rest' from heddle.threads where agent_id = ${agentId} and active_at is null`
    await sql`
      insert into heddle.processes (thread_id, name, version, project_id, status, ended_at)
      select ${threadId}, 'ended ' || number, 1, ${PROJECT}, 'off', now() from generate_series(1, 3000) as number`
    await sql`
      insert into heddle.processes (thread_id, name, version, project_id, status)
      select ${threadId}, 'long', number, ${PROJECT}, 'on' from generate_series(2, 3000) as number`
  })
}
async function asOwner(work: (sql: postgres.Sql) => Promise<unknown>): Promise<void> {
  const sql = postgres(database.url, { max: 1 })
  await work(sql)
  await sql.end()
}
