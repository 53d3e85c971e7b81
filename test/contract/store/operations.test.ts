import type { ContextResult } from '@heddle/contracts'
import { agentIdOf, NIL_ID, projectIdOf, threadIdOf } from '@heddle/core'
import {
  acquireLease,
  appendEvents,
  appendUnpublishedEvents,
  countDeadLetters,
  ensureProject,
  ensureThread,
  failContext,
  findRequestedContexts,
  findUnpublishedEvents,
  finishContext,
  insertDeadLetter,
  listAgents,
  listContexts,
  listDeadLetters,
  listThreads,
  loadAgent,
  loadContext,
  loadDeadLetterPayload,
  loadEventsAfter,
  loadThread,
  markRedriven,
  packLines,
  putAgent,
  requestContext,
  storeEvents,
} from '@heddle/store'
import { waitFor } from '@heddle/test-support'
import { describe, expect, it } from 'vitest'
import { append, appendOne, newId, PROJECT, prepared, RECEIVED_AT_MS, storeOfTests, type TestStore } from './support.js'

const database = storeOfTests()

const inProject: TestStore['store']['inProject'] = (projectId, work) => database.store.inProject(projectId, work)

describe('projects', () => {
  it('have their id as a name until one is set, which does not change later', async () => {
    const projectId = projectIdOf('named late')
    await appendOne(database.store, append([prepared()]), projectId)
    const nameOf = () => inProject(projectId, (tx) => tx`select name from heddle.projects`)
    expect(await nameOf()).toEqual([{ name: projectId }])
    await inProject(projectId, (tx) => ensureProject(tx, { projectId, name: 'named late' }))
    await inProject(projectId, (tx) => ensureProject(tx, { projectId, name: 'named late' }))
    expect(await nameOf()).toEqual([{ name: 'named late' }])
  })

  it('are created by many at the same moment', async () => {
    for (let run = 0; run < 40; run++) {
      const name = `created at once ${run}`
      const projectId = projectIdOf(name)
      const create = () => inProject(projectId, (tx) => ensureProject(tx, { projectId, name }))
      await Promise.all(Array.from({ length: 8 }, create))
    }
  })
})

describe('agents', () => {
  it('get a version when something changed, and not otherwise', async () => {
    const put = (fields: object) =>
      inProject(PROJECT, (tx) => putAgent(tx, { projectId: PROJECT, name: 'versioned', ...fields }))
    expect(await put({})).toMatchObject({ version: 1, systemPrompt: '', docs: [], settings: {} })
    expect(await put({ systemPrompt: 'be brief', settings: { model: 'm', prune: { keepLastN: 3 } } })).toMatchObject({
      version: 2,
    })
    expect(await put({ settings: { prune: { keepLastN: 3 }, model: 'm' } })).toMatchObject({ version: 2 })
    const docs = [{ name: 'a', text: 'half \ud800' }]
    expect(await put({ docs })).toMatchObject({ version: 3, docs, systemPrompt: 'be brief' })
    const versions = await inProject(
      PROJECT,
      (tx) => tx`
        select version, system_prompt from heddle.agent_versions
        where agent_id = ${agentIdOf(PROJECT, 'versioned')} order by version`,
    )
    expect(versions).toEqual([
      { version: 1, systemPrompt: '' },
      { version: 2, systemPrompt: 'be brief' },
      { version: 3, systemPrompt: 'be brief' },
    ])
    expect(await inProject(PROJECT, (tx) => loadAgent(tx, { name: 'nobody' }))).toBeNull()
    await expect(put({ systemPrompt: 'a\0' })).rejects.toMatchObject({ field: 'systemPrompt' })
  })

  it('get one version from each of several writers at once', async () => {
    const put = (systemPrompt: string) =>
      inProject(PROJECT, (tx) => putAgent(tx, { projectId: PROJECT, name: 'contested', systemPrompt }))
    const versions = await Promise.all(['a', 'b', 'c', 'd'].map(put))
    expect(versions.map(({ version }) => version).sort()).toEqual([1, 2, 3, 4])
  })
})

describe('threads', () => {
  it('are listed by name, by agent and in pages, with their counts', async () => {
    const projectId = projectIdOf('listing')
    for (const [thread, agent] of [
      ['b', 'x'],
      ['a', 'y'],
      ['c', 'x'],
    ] as const) {
      await appendOne(database.store, append([prepared({ content: '12345678' })], { thread, agent }), projectId)
    }
    await inProject(projectId, async (tx) => {
      expect((await listThreads(tx, { limit: 2 })).map(({ name }) => name)).toEqual(['a', 'b'])
      expect((await listThreads(tx, { limit: 2, afterName: 'b' })).map(({ name }) => name)).toEqual(['c'])
      expect((await listThreads(tx, { limit: 9, search: 'B' })).map(({ name }) => name)).toEqual(['b'])
      expect(await listThreads(tx, { limit: 9, search: '%' })).toEqual([])
      const ofAgent = await listThreads(tx, { limit: 9, agentId: agentIdOf(projectId, 'x') })
      expect(ofAgent).toMatchObject([
        { name: 'b', agentName: 'x', messages: 1, tokensEstimate: 2, lastMessageAtMs: RECEIVED_AT_MS },
        { name: 'c' },
      ])
      expect(await listAgents(tx, { limit: 9 })).toMatchObject([
        { name: 'x', threads: 2, messages: 2, tokensEstimate: 4, lastMessageAtMs: RECEIVED_AT_MS },
        { name: 'y', threads: 1, messages: 1 },
      ])
    })
  })

  it('are created without a message, once, and load as empty', async () => {
    const ensure = (agent: string) =>
      inProject(PROJECT, (tx) => ensureThread(tx, { projectId: PROJECT, agent, thread: 'ensured' }))
    const results = await Promise.all([ensure('maker'), ensure('maker'), ensure('maker')])
    expect(new Set(results.map(({ threadId }) => threadId))).toEqual(new Set([threadIdOf(PROJECT, 'ensured')]))
    await expect(ensure('other')).rejects.toMatchObject({ code: 'CONFLICT', field: 'agent' })
    expect(
      await inProject(PROJECT, (tx) => loadThread(tx, { threadId: threadIdOf(PROJECT, 'ensured') })),
    ).toMatchObject({
      agentName: 'maker',
      headSeq: 0,
      title: null,
      lastClearedAtMs: null,
      lastMessageAtMs: null,
    })
  })

  it('show their current title and how many messages the last clear hid', async () => {
    const { threadId } = await appendOne(
      database.store,
      append([prepared(), prepared()], { thread: 'described', agent: 'cleared' }),
    )
    await inProject(PROJECT, async (tx) => {
      await tx`insert into heddle.thread_versions (thread_id, version, title, goal) values (${threadId}, 1, 'old', 'g'), (${threadId}, 2, 'new', 'g')`
      await tx`update heddle.threads set version = 2 where id = ${threadId}`
      await tx`update heddle.agents set clear_epoch = 2, last_cleared_at = ${RECEIVED_AT_MS} where id = ${agentIdOf(PROJECT, 'cleared')}`
      await tx`insert into heddle.thread_clears (thread_id, epoch, head_seq) values (${threadId}, 1, 1), (${threadId}, 2, 2)`
      expect(await loadThread(tx, { threadId })).toMatchObject({
        title: 'new',
        clearEpoch: 2,
        clearedSeq: 2,
        lastClearedAtMs: RECEIVED_AT_MS,
      })
    })
  })
})

describe('contexts', () => {
  const result = (id: string): ContextResult => ({
    id,
    thread: 'cloth',
    agent: 'weaver',
    format: 'neutral',
    strategy: 'sandwich',
    budget: 1_000,
    tokensUsed: 10,
    summaryUsed: false,
    system: null,
    messages: [{ role: 'user', content: 'NUL \0, half \ud83d' }],
    tools: [],
    items: [],
    receipt: {
      rendererVersion: 1,
      eligible: 1,
      imported: 1,
      ineligible: {},
      counter: 'o200k',
      model: null,
      agentVersion: 4,
      stateId: null,
      clearEpoch: 0,
      headSeq: 7,
      sections: [],
      entries: [],
      notes: [],
      tokensRaw: 10,
    },
  })
  const request = (id: string, threadId = newId()) =>
    inProject(PROJECT, (tx) =>
      requestContext(tx, {
        id,
        threadId,
        request: { thread: 'cloth', message: 'NUL \0' },
        deadlineAtMs: RECEIVED_AT_MS,
      }),
    )

  it('are requested once, answered once, and read back as they were built', async () => {
    const id = newId()
    expect(await request(id)).toMatchObject({ isNew: true })
    expect(await request(id)).toMatchObject({ isNew: false })
    const finish = () => inProject(PROJECT, (tx) => finishContext(tx, { id, result: result(id) }))
    expect((await Promise.all([finish(), finish()])).filter(Boolean)).toHaveLength(1)
    const error = { code: 'TIMEOUT', detail: 'too late' } as const
    expect(await inProject(PROJECT, (tx) => failContext(tx, { id, error }))).toBe(false)
    expect(await inProject(PROJECT, (tx) => loadContext(tx, { id }))).toMatchObject({
      status: 'built',
      request: { thread: 'cloth', message: 'NUL \0' },
      deadlineAtMs: RECEIVED_AT_MS,
      result: result(id),
      agentVersion: 4,
      headSeq: 7,
      tokensUsed: 10,
      error: null,
    })
  })

  const asked = (threadId: string) => ({
    threadId,
    request: { thread: 'cloth', message: 'NUL \0' },
    deadlineAtMs: RECEIVED_AT_MS,
  })
  const threadOf = async (name: string) => {
    await appendOne(database.store, append([prepared()], { thread: name }))
    return threadIdOf(PROJECT, name)
  }
  const contextOf = (id: string) => inProject(PROJECT, (tx) => loadContext(tx, { id }))

  it('that only a job requested get their row with the answer, once', async () => {
    const [id, threadId] = [newId(), await threadOf('asked by a job')]
    const asOfMs = Date.now() - 1_000
    const context = { id, result: result(id), asked: asked(threadId), asOfMs }
    const finish = () => inProject(PROJECT, (tx) => finishContext(tx, context))
    expect((await Promise.all([finish(), finish()])).filter(Boolean)).toHaveLength(1)
    const built = { status: 'built', ...asked(threadId), result: result(id), asOfMs, requestedAtMs: asOfMs }
    expect(await contextOf(id)).toMatchObject(built)
    const error = { code: 'TIMEOUT', detail: 'too late' } as const
    expect(await inProject(PROJECT, (tx) => failContext(tx, { id, error, asked: asked(threadId) }))).toBe(false)
    // The waiting client has inserted the row meanwhile, or inserts it now.
    expect(await request(id, threadId)).toMatchObject({ isNew: false })
    expect(await contextOf(id)).toMatchObject(built)
  })

  it('that a job and a row requested are answered in that row', async () => {
    const [id, threadId] = [newId(), await threadOf('asked by both')]
    await request(id, threadId)
    const before = await contextOf(id)
    const context = { id, result: result(id), asked: asked(threadId) }
    expect(await inProject(PROJECT, (tx) => finishContext(tx, context))).toBe(true)
    expect(await contextOf(id)).toMatchObject({
      status: 'built',
      result: result(id),
      requestedAtMs: before?.requestedAtMs,
    })
  })

  it('can be requested while their worker inserts the row', async () => {
    const [id, threadId] = [newId(), await threadOf('asked meanwhile')]
    let requested: Promise<unknown> = Promise.resolve()
    await inProject(PROJECT, async (tx) => {
      await finishContext(tx, { id, result: result(id), asked: asked(threadId) })
      requested = request(id, threadId)
      await waitFor(async () => (await tx`select from pg_locks where not granted`).length > 0, { what: 'the wait' })
    })
    expect(await requested).toMatchObject({ isNew: false, ready: null })
    expect(await contextOf(id)).toMatchObject({ status: 'built' })
  })

  it('are not answered in the row of another project or thread', async () => {
    const [id, threadId] = [newId(), await threadOf('forged')]
    const other = projectIdOf('owner of the row')
    await inProject(other, (tx) => requestContext(tx, { id, ...asked(newId()) }))
    const context = { id, result: result(id), asked: asked(threadId) }
    expect(await inProject(PROJECT, (tx) => finishContext(tx, context))).toBe(false)
    expect(await inProject(other, (tx) => loadContext(tx, { id }))).toMatchObject({ status: 'requested' })
    const own = newId()
    await request(own, await threadOf('of another thread'))
    expect(await inProject(PROJECT, (tx) => finishContext(tx, { ...context, id: own, result: result(own) }))).toBe(
      false,
    )
    expect(await contextOf(own)).toMatchObject({ status: 'requested' })
  })

  it('that failed before there was a row keep their error, also for a missing thread', async () => {
    const [id, threadId] = [newId(), newId()]
    const error = { code: 'NOT_FOUND', detail: 'no such thread' } as const
    const fail = () => inProject(PROJECT, (tx) => failContext(tx, { id, error, asked: asked(threadId) }))
    expect(await fail()).toBe(true)
    expect(await fail()).toBe(false)
    expect(await contextOf(id)).toMatchObject({ status: 'failed', error, ...asked(threadId) })
    const another = newId()
    await request(another, threadId)
    const failed = { id: another, error, asked: asked(threadId) }
    expect(await inProject(PROJECT, (tx) => failContext(tx, failed))).toBe(true)
    expect(await contextOf(another)).toMatchObject({ status: 'failed', error })
  })

  it('that failed have an error and no result', async () => {
    const id = newId()
    await request(id)
    const error = { code: 'BUDGET_TOO_SMALL', detail: 'too small', facts: { needed: 12 } } as const
    expect(await inProject(PROJECT, (tx) => failContext(tx, { id, error }))).toBe(true)
    expect(await inProject(PROJECT, (tx) => finishContext(tx, { id, result: result(id) }))).toBe(false)
    expect(await inProject(PROJECT, (tx) => loadContext(tx, { id }))).toMatchObject({
      status: 'failed',
      error,
      result: null,
    })
    expect(await inProject(PROJECT, (tx) => loadContext(tx, { id: newId() }))).toBeNull()
  })

  it('keep their delivered bytes only for the newest of a thread, and where they could not be rebuilt', async () => {
    const threadId = newId()
    const finished: string[] = []
    const finish = async (id: string, isStored: boolean) => {
      await request(id, threadId)
      const stored = packLines(id, { head: '{}', lines: ['"a line"'], hidden: [] }, null)
      await inProject(PROJECT, (tx) => finishContext(tx, { id, result: result(id), ...(isStored && { stored }) }))
      finished.push(id)
    }
    const unstored = newId()
    await finish(unstored, false)
    // The old contexts have ids that end in 0.
    for (let made = 0; made < 12; made++) await finish(newId().replace(/.$/, '0'), true)
    const kept = await inProject(
      PROJECT,
      (tx) => tx<{ contextId: string }[]>`
        select context_id from heddle.context_deliveries where context_id in ${tx(finished)}`,
    )
    expect(kept.map(({ contextId }) => contextId).sort()).toEqual([unstored, ...finished.slice(-8)].sort())
  })

  it('without an answer are found across projects, and listed by thread in pages', async () => {
    const threadId = newId()
    const ids = [newId(), newId(), newId()]
    for (const id of ids) await request(id, threadId)
    const found = await findRequestedContexts(database.store, { limit: 100, requestedBeforeMs: Date.now() + 60_000 })
    expect(found).toEqual(expect.arrayContaining(ids.map((contextId) => ({ projectId: PROJECT, contextId }))))
    expect(
      await findRequestedContexts(database.store, { limit: 100, requestedBeforeMs: RECEIVED_AT_MS - 1e12 }),
    ).toEqual([])
    await inProject(PROJECT, async (tx) => {
      const all = await listContexts(tx, { threadId, limit: 10 })
      expect(new Set(all.map(({ id }) => id))).toEqual(new Set(ids))
      const [newest] = all
      if (newest === undefined) throw new Error('nothing is listed')
      expect(await listContexts(tx, { threadId, limit: 10, before: newest })).toEqual(all.slice(1))
    })
  })
})

describe('a lease', () => {
  it('is acquired by one of many processes, and by the next only after the interval', async () => {
    const { store } = database
    const take = (apartMs: number) => acquireLease(store, { name: 'look', apartMs })
    const first = await Promise.all(Array.from({ length: 8 }, () => take(60_000)))
    expect(first.filter((sinceMs) => sinceMs === null)).toHaveLength(1)
    for (const sinceMs of first) expect(sinceMs ?? 0).toBeLessThan(30_000)
    expect(await acquireLease(store, { name: 'another', apartMs: 60_000 })).toBeNull()
    const takenSecondsAgo = (seconds: number) =>
      store.inProject(NIL_ID, (tx) => tx`update heddle.turns set taken_at = now() - ${seconds} * interval '1 second'`)
    await takenSecondsAgo(50)
    const sinceMs = await take(60_000)
    expect(sinceMs).toBeGreaterThanOrEqual(50_000)
    expect(sinceMs).toBeLessThan(60_000)
    await takenSecondsAgo(61)
    expect(await take(60_000)).toBeNull()
  })

  it('is available after one interval at most, also when the clock of the database was set back', async () => {
    const { store } = database
    const take = () => acquireLease(store, { name: 'set back', apartMs: 60_000 })
    const takenInSeconds = (seconds: number) =>
      store.inProject(NIL_ID, (tx) => tx`update heddle.turns set taken_at = now() + ${seconds} * interval '1 second'`)
    expect(await take()).toBeNull()
    await takenInSeconds(30)
    expect(await take()).toBe(0)
    await takenInSeconds(3_600)
    expect(await take()).toBeNull()
  })
})

describe('events', () => {
  it('are numbered without gaps by any number of writers, and read from any number on', async () => {
    const projectId = projectIdOf('events')
    await inProject(projectId, (tx) => ensureProject(tx, { projectId, name: 'events' }))
    const write = () =>
      storeEvents(database.store, {
        projectId,
        events: [{ topic: 'message.stored', threadId: newId(), headSeq: 3 }, { topic: 'context.built' }],
      })
    const written = (await Promise.all(Array.from({ length: 8 }, write))).flat()
    const read = await inProject(projectId, (tx) => loadEventsAfter(tx, { projectId, number: 0, limit: 100 }))
    expect(read.map(({ number }) => number)).toEqual(Array.from({ length: 16 }, (_, index) => index + 1))
    expect(read).toEqual([...written].sort((left, right) => left.number - right.number))
    expect(read[0]).toMatchObject({ projectId, topic: 'message.stored', headSeq: 3, subjectId: null })
    const rest = await inProject(projectId, (tx) => loadEventsAfter(tx, { projectId, number: 14, limit: 1 }))
    expect(rest.map(({ number }) => number)).toEqual([15])
  })

  it('of contexts and snapshots are found when missing, and appended once, whichever process finds them', async () => {
    const projectId = projectIdOf('untold')
    const [threadId, agentId] = [threadIdOf(projectId, 'untold'), agentIdOf(projectId, 'untold')]
    await appendOne(database.store, append([prepared()], { agent: 'untold', thread: 'untold' }), projectId)
    const [built, failed, early, saved] = [newId(), newId(), newId(), newId()]
    await inProject(projectId, async (tx) => {
      await tx`
        insert into heddle.contexts (id, thread_id, status, request, deadline_at, requested_at, built_at)
        select id, ${threadId}, status, '{}', now(), now() - asked, now() - asked + interval '10 seconds'
        from (values
          (${built}::uuid, 'built', interval '1 minute'),
          (${failed}::uuid, 'failed', interval '1 minute'),
          (${early}::uuid, 'built', interval '2 hours')) as made (id, status, asked)`
      await tx`
        insert into heddle.snapshots (id, agent_id, created_at, file_name)
        values (${saved}, ${agentId}, now() - interval '1 minute', 'saved.json')`
    })
    const found = async (madeBeforeMs: number) => {
      const askedAfterMs = Date.now() - 3_600_000
      const all = await findUnpublishedEvents(database.store, { limit: 100, askedAfterMs, madeBeforeMs })
      return all.filter((event) => event.projectId === projectId)
    }
    expect(await found(Date.now() - 55_000)).toMatchObject([{ topic: 'snapshot.saved', subjectId: saved }])
    const events = await found(Date.now())
    expect(events).toMatchObject([
      { topic: 'context.built', threadId, subjectId: built },
      { topic: 'snapshot.saved', threadId: null, subjectId: saved },
    ])
    const appended = await Promise.all(
      [1, 2, 3].map(() => inProject(projectId, (tx) => appendUnpublishedEvents(tx, { projectId, events }))),
    )
    expect(appended.map(({ length }) => length).sort()).toEqual([0, 0, 2])
    expect(await inProject(projectId, (tx) => appendEvents(tx, { projectId, events }))).toEqual([])
    expect(await found(Date.now())).toEqual([])
  })

  it('of a project that does not exist are refused', async () => {
    const projectId = projectIdOf('never made')
    const events = [{ topic: 'context.built' as const }]
    await expect(storeEvents(database.store, { projectId, events })).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })
})

describe('dead letters', () => {
  it('keep the job and its error, with or without a project, until they are sent again', async () => {
    const payload = { broken: '\0', at: [1] }
    const letter = {
      stage: 'ingest',
      jobId: 'job 1',
      threadId: null,
      error: { code: 'INTERNAL', detail: 'it \0 broke' } as const,
      attempts: 8,
    }
    const id = (await inProject(PROJECT, (tx) => insertDeadLetter(tx, { ...letter, payload }))) ?? ''
    await inProject(NIL_ID, async (tx) => {
      const nobodys = (await insertDeadLetter(tx, { ...letter, payload: undefined })) ?? ''
      expect(await listDeadLetters(tx, { limit: 9 })).toMatchObject([{ id: nobodys, projectId: NIL_ID }])
      expect(await loadDeadLetterPayload(tx, { id: nobodys })).toBeNull()
      expect(await loadDeadLetterPayload(tx, { id })).toBeUndefined()
    })
    await inProject(PROJECT, async (tx) => {
      expect(await listDeadLetters(tx, { limit: 9, stage: 'ingest' })).toMatchObject([
        { id, projectId: PROJECT, ...letter, redrivenAtMs: null },
      ])
      expect(await loadDeadLetterPayload(tx, { id })).toEqual(payload)
      expect(await listDeadLetters(tx, { limit: 9, stage: 'prune' })).toEqual([])
      expect(await countDeadLetters(tx)).toBe(1)
      expect(await markRedriven(tx, { id })).toBe(true)
      expect(await markRedriven(tx, { id })).toBe(false)
      expect(await listDeadLetters(tx, { limit: 9 })).toEqual([])
      expect(await countDeadLetters(tx)).toBe(0)
      expect(await listDeadLetters(tx, { limit: 9, withRedriven: true })).toHaveLength(1)
      await insertDeadLetter(tx, { ...letter, stage: 'assemble', payload })
      expect(await countDeadLetters(tx)).toBe(0)
    })
  })

  it('are stored also when their payload is nested deeper than JavaScript or Postgres can follow', async () => {
    const payload: unknown = JSON.parse('['.repeat(200_000) + ']'.repeat(200_000))
    const error = { code: 'VALIDATION_ERROR', detail: 'too deep' } as const
    const letter = { stage: 'ingest', jobId: 'deep', threadId: null, error, attempts: 1, payload }
    await inProject(PROJECT, async (tx) => {
      const id = (await insertDeadLetter(tx, letter)) ?? ''
      expect(await loadDeadLetterPayload(tx, { id })).toMatch(/^not stored/)
    })
  })
})
