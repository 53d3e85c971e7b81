import { agentIdOf, type SnapshotFile, threadIdOf } from '@heddle/core'
import {
  advanceEmbedCursor,
  beginErasure,
  continueErasure,
  countMessages,
  findUnfinishedErasures,
  holdThread,
  insertDeadLetter,
  insertState,
  listHistory,
  listThreads,
  loadErasure,
  loadSummaryParts,
  loadThread,
  recordSummaryPart,
  removeExpired,
  withoutErasedThreads,
} from '@heddle/store'
import { describe, expect, it } from 'vitest'
import { append, appendAll, appendOne, newId, PROJECT, prepared, RECEIVED_AT_MS, storeOfTests } from '../support.js'
import { asOwner } from './erasure-support.js'

const database = storeOfTests()
const inProject: typeof database.store.inProject = (projectId, work) => database.store.inProject(projectId, work)

/** An id of version 7 that says when it was made. */
const idAt = (timeMs: number) => {
  const digits = timeMs.toString(16).padStart(12, '0')
  return `${digits.slice(0, 8)}-${digits.slice(8)}${newId().slice(13)}`
}
const DAY_MS = 86_400_000

/** Appends and returns the outcome, also of a refusal. */
async function outcomeOf(one: ReturnType<typeof append>) {
  const [outcome] = await appendAll(database.store, [one])
  if (outcome === undefined) throw new Error('an append without an outcome')
  return outcome
}

let names = 0
async function erasedThread({ reuse }: { reuse: boolean }) {
  const thread = `reused ${++names}`
  const threadId = threadIdOf(PROJECT, thread)
  const old = [prepared({ content: 'old' }), prepared({ content: 'older' }, { ordinal: 1 })]
  await appendOne(database.store, append(old, { thread }))
  const target = { projectId: PROJECT, kind: 'thread' as const, targetId: threadId }
  const erase = async (options: { reuse: boolean }) => {
    await inProject(PROJECT, (tx) => beginErasure(tx, target, options))
    await continueErasure(database.store, target)
  }
  await erase({ reuse })
  const send = (messages: ReturnType<typeof prepared>[], requestId = idAt(Date.now() + 1_000)) =>
    outcomeOf(append(messages, { thread, requestId }))
  return { thread, threadId, old, erase, send }
}

function stateOf(threadId: string, headSeq: number) {
  const position = { orderedAtMs: RECEIVED_AT_MS, ordinal: 0, id: newId() }
  return {
    ...{ id: newId(), threadId, lane: 'sandwich', strategy: 'sandwich', clearEpoch: 0, generation: 1, replaces: null },
    ...{ status: 'ready' as const, point: position, headSeq, topIds: [], coveredFrom: position, coveredTo: position },
    ...{ coveredCount: 1, coveredTokens: 9, summary: 'of what was erased', summaryTokens: 3, summarizer: 'test' },
  }
}

describe('the name of an erased thread', () => {
  it('is refused, with a hint how to free it, until the thread is erased with reuse, also if that is requested later', async () => {
    const { erase, send } = await erasedThread({ reuse: false })
    const refused = await send([prepared()])
    expect(refused.error).toMatchObject({ code: 'CONFLICT', hint: expect.stringContaining('--reuse') })
    await erase({ reuse: true })
    expect(await send([prepared({ content: 'new' })])).toMatchObject({ stored: 1, error: null })
  })

  it('creates a new thread with counts from zero, and sequence numbers after those of the old thread', async () => {
    const { thread, threadId, send } = await erasedThread({ reuse: true })
    expect(await send([prepared({ content: 'new' })])).toMatchObject({ stored: 1, fromSeq: 4, headSeq: 4 })
    await inProject(PROJECT, async (tx) => {
      const history = await listHistory(tx, { threadId, limit: 10, order: 'asc' })
      expect(history?.messages.map(({ seq, content }) => [seq, content])).toEqual([[4, 'new']])
      expect(await countMessages(tx, { threadId, sinceMs: null, afterSeq: 0 })).toMatchObject({
        stored: 1,
        inWindow: 1,
        eligible: 1,
      })
      const [listed] = (await listThreads(tx, { limit: 1_000 })).filter(({ name }) => name === thread)
      expect(listed).toMatchObject({ messages: 1 })
    })
  })

  it('accepts neither an erased message nor one sent before the erasure, however often and late it arrives', async () => {
    const { threadId, old, send } = await erasedThread({ reuse: true })
    const late = prepared({ content: 'was still in a queue' })
    for (let time = 0; time < 2; time++) {
      const repeated = await send([prepared(), old[1] ?? prepared()])
      expect(repeated).toMatchObject({ stored: 0, error: { code: 'CONFLICT', field: 'messages.1.id' } })
      const queued = await send([late], idAt(Date.now() - DAY_MS))
      expect(queued).toMatchObject({ stored: 0, error: { code: 'CONFLICT', field: 'thread' } })
      const letter = { stage: 'ingest' as const, jobId: newId(), threadId, payload: { content: 'secret' }, attempts: 1 }
      for (const { error } of [repeated, queued]) {
        if (error === null) throw new Error('it was taken')
        expect(await inProject(PROJECT, (tx) => insertDeadLetter(tx, { ...letter, error }))).toBeNull()
      }
      expect(await send([prepared({ content: 'new' })])).toMatchObject({ stored: 1, error: null })
    }
    expect(await send([late])).toMatchObject({ stored: 1, error: null })
    const history = await inProject(PROJECT, (tx) => listHistory(tx, { threadId, limit: 10, order: 'asc' }))
    expect(history?.messages.map(({ content }) => content).toSorted()).toEqual(['new', 'new', 'was still in a queue'])
  })

  it('voids late publications for the old thread', async () => {
    const { threadId, send } = await erasedThread({ reuse: true })
    await send([prepared({ content: 'new' })])
    await inProject(PROJECT, async (tx) => {
      for (const seen of [1, 2]) {
        expect(await insertState(tx, stateOf(threadId, seen))).toBe(false)
        expect(await advanceEmbedCursor(tx, { erasedCount: 0, threadId, toSeq: seen })).toBe(false)
        expect(await holdThread(tx, threadId, seen)).toBe(false)
      }
      expect(await loadThread(tx, { threadId })).toMatchObject({ baseSeq: 3, headSeq: 4, embedSeq: 3, pruneSeq: 3 })
      expect(await holdThread(tx, threadId, 4)).toBe(true)
      expect(await insertState(tx, stateOf(threadId, 4))).toBe(true)
      expect(await advanceEmbedCursor(tx, { erasedCount: 0, threadId, toSeq: 4 })).toBe(true)
    })
  })

  it('keeps its old messages out of a snapshot that was read before the erasure, and stores no summary of them', async () => {
    const { threadId, old, send } = await erasedThread({ reuse: true })
    const fresh = prepared({ content: 'new' })
    await send([fresh])
    const fileOf = ({ input: { id, content } }: typeof fresh): SnapshotFile => ({
      ...{ session_id: newId(), timestamp: '2026-02-12T14:30:00Z', description: null, summary: 's', message_count: 1 },
      ...{ window_start: null, window_end: '2026-02-12T14:30:00Z' },
      messages: [{ id, thread_id: threadId, role: 'user', content, timestamp: '2026-02-12T14:00:00Z' }],
    })
    await inProject(PROJECT, async (tx) => {
      const agentId = agentIdOf(PROJECT, 'weaver')
      const [gone] = old
      expect(await withoutErasedThreads(tx, { agentId, file: fileOf(gone ?? fresh) })).toBeNull()
      expect(await withoutErasedThreads(tx, { agentId, file: fileOf(fresh) })).toMatchObject({ message_count: 1 })

      const part = { threadId, summarizer: 'test', summary: 'of a part' }
      await recordSummaryPart(tx, { ...part, headSeq: 2, erasedCount: 0, hash: '01' })
      await recordSummaryPart(tx, { ...part, headSeq: 4, erasedCount: 0, hash: '02' })
      const kept = await loadSummaryParts(tx, { threadId, summarizer: 'test', hashes: ['01', '02'] })
      expect([...kept.keys()]).toEqual(['02'])
    })
  })

  it('can be erased and freed repeatedly, and refuses the messages of all earlier threads with this name', async () => {
    const { old, erase, send } = await erasedThread({ reuse: true })
    const second = prepared({ content: 'second' })
    expect(await send([second])).toMatchObject({ stored: 1, headSeq: 4 })
    await erase({ reuse: true })
    for (const message of [...old, second]) expect((await send([message])).error).toMatchObject({ code: 'CONFLICT' })
    expect(await send([prepared({ content: 'third' })])).toMatchObject({ stored: 1, headSeq: 6 })
    await erase({ reuse: false })
    expect((await send([prepared()])).error).toMatchObject({ code: 'CONFLICT', field: 'thread' })
  })

  it('is freed by any process that continues the erasure, and the counts of removed rows remain available', async () => {
    const thread = `reused ${++names}`
    const threadId = threadIdOf(PROJECT, thread)
    await appendOne(database.store, append([prepared()], { thread }))
    const target = { projectId: PROJECT, kind: 'thread' as const, targetId: threadId }
    await inProject(PROJECT, (tx) => beginErasure(tx, target, { reuse: true }))
    const open = await findUnfinishedErasures(database.store, { limit: 10, begunBeforeMs: Date.now() + DAY_MS })
    expect(open).toEqual([target])
    await continueErasure(database.store, target)
    expect(await findUnfinishedErasures(database.store, { limit: 10, begunBeforeMs: Date.now() + DAY_MS })).toEqual([])
    const erasure = await inProject(PROJECT, (tx) => loadErasure(tx, target))
    expect(erasure).toMatchObject({ finishedAtMs: expect.any(Number), removed: { messages: 1, threads: 1 } })
  })

  it('is freed together with the name of its agent', async () => {
    const agent = `agent ${++names}`
    const thread = `reused ${names}`
    const request = () => ({ agent, thread, requestId: idAt(Date.now() + 1_000) })
    const first = prepared()
    await appendOne(database.store, append([first], request()))
    const target = { projectId: PROJECT, kind: 'agent' as const, targetId: agentIdOf(PROJECT, agent) }
    await inProject(PROJECT, (tx) => beginErasure(tx, target, { reuse: true }))
    expect((await outcomeOf(append([prepared()], request()))).error).toMatchObject({ field: 'agent' })
    await continueErasure(database.store, target)
    expect((await outcomeOf(append([first], request()))).error).toMatchObject({ code: 'CONFLICT' })
    expect(await outcomeOf(append([prepared()], request()))).toMatchObject({ stored: 1, error: null })
  })

  it('keeps the ids of erased messages for as long as the tombstone', async () => {
    const { threadId } = await erasedThread({ reuse: true })
    const left = () =>
      asOwner(database.url, async (sql) => {
        const [row] =
          await sql`select count(*)::integer as count from heddle.erased_messages where target_id = ${threadId}`
        return row?.['count']
      })
    expect(await left()).toBe(2)
    await asOwner(
      database.url,
      (sql) => sql`
        update heddle.tombstones set created_at = now() - interval '2 days', finished_at = now() - interval '2 days'
        where freed_id = ${threadId}`,
    )
    const expiry = { kind: 'tombstones' as const, beforeMs: Date.now() - DAY_MS, limit: 100 }
    expect(await removeExpired(database.store, expiry)).toBeGreaterThan(0)
    expect(await left()).toBe(0)
  })

  it('keeps the ids also when the name was erased again without being freed', async () => {
    const { threadId, old, erase, send } = await erasedThread({ reuse: true })
    await send([prepared({ content: 'second' })])
    await erase({ reuse: false })
    await asOwner(
      database.url,
      (sql) => sql`
        update heddle.tombstones set created_at = now() - interval '2 days', finished_at = now() - interval '2 days'
        where freed_id = ${threadId}`,
    )
    await removeExpired(database.store, { kind: 'tombstones', beforeMs: Date.now() - DAY_MS, limit: 100 })
    await erase({ reuse: true })
    for (const message of old) expect((await send([message])).error).toMatchObject({ code: 'CONFLICT' })
  })
})
