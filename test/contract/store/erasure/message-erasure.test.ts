import { randomBytes, randomUUID } from 'node:crypto'
import { deflateSync } from 'node:zlib'
import { packPlaces } from '@heddle/core'
import {
  advanceEmbedCursor,
  archiveEntries,
  beginMessageErasure,
  continueErasure,
  findUnfinishedErasures,
  finishContext,
  listHistory,
  loadErasure,
  loadThread,
  type MessageRange,
  recordSummaryPart,
  type Tx,
} from '@heddle/store'
import { describe, expect, it } from 'vitest'
import { append, appendOne, newId, PROJECT, prepared, RECEIVED_AT_MS, storeOfTests } from '../support.js'
import { asOwner, freshThread, heldTransaction, whenBlocked } from './erasure-support.js'

const database = storeOfTests()

const inProject: (typeof database)['store']['inProject'] = (projectId, work) =>
  database.store.inProject(projectId, work)

async function begin(threadId: string, range: MessageRange) {
  const erasureId = randomUUID()
  const begun = await inProject(PROJECT, (tx) => beginMessageErasure(tx, { erasureId, threadId, range }))
  return { ...begun, target: { projectId: PROJECT, kind: 'messages' as const, targetId: erasureId } }
}

async function erase(threadId: string, range: MessageRange) {
  const begun = await begin(threadId, range)
  await continueErasure(database.store, begun.target)
  return begun
}

async function historyOf(threadId: string) {
  const page = await inProject(PROJECT, (tx) => listHistory(tx, { threadId, limit: 100, order: 'asc' }))
  const shown = (page?.messages ?? []).map(({ seq, content, keptAside }) => [seq, keptAside ?? content] as const)
  return shown.sort(([left], [right]) => left - right)
}

describe('an erasure of messages', () => {
  it('leaves their rows with places and without content, and the others as they were', async () => {
    const { threadId, messageIds } = await freshThread(database.store, 3)
    const before = await historyOf(threadId)
    expect(await erase(threadId, { messageId: messageIds[1] ?? '' })).toMatchObject({ erased: 1, found: 1 })
    expect(await historyOf(threadId)).toEqual([before[0], [2, 'erased'], before[2]])
    const row = await asOwner(
      database.url,
      (sql) => sql`
        select content, source_id, metadata, usage, tokens_estimate, encode(fingerprint, 'hex') as fingerprint
        from heddle.messages where thread_id = ${threadId} and seq = 2`,
    )
    expect([...row]).toEqual([
      { content: '', source_id: null, metadata: null, usage: null, tokens_estimate: 0, fingerprint: '' },
    ])
  })

  it('includes the results of erased calls, and the call and the other results of an erased result', async () => {
    const turn = (name: string, ids: readonly string[]) => [
      prepared({ content: `${name} asks` }),
      prepared({ role: 'assistant', content: '', toolCalls: ids.map((id) => ({ id, name: 'Read', arguments: {} })) }),
      ...ids.map((id) => prepared({ role: 'tool_result', content: `${name} ${id}`, toolCallId: id })),
    ]
    // Some providers number the calls of each turn from the beginning.
    const messages = [...turn('first', ['0', '1']), ...turn('second', ['0', '1']), ...turn('third', ['0', '1'])]
    const placed = messages.map((message, ordinal) => ({ ...message, ordinal }))
    const erasedOf = async (thread: string, seq: number) => {
      const { threadId } = await appendOne(database.store, append(placed, { agent: 'pairs', thread }))
      await erase(threadId, { fromSeq: seq, toSeq: seq })
      return (await historyOf(threadId)).filter(([, what]) => what === 'erased').map(([each]) => each)
    }
    expect(await erasedOf('by its call', 6)).toEqual([6, 7, 8])
    expect(await erasedOf('by a result', 8)).toEqual([6, 7, 8])
    expect(await erasedOf('by a question', 5)).toEqual([5])
  })

  it('is repeated without effect, by id and by number', async () => {
    const { threadId, messageIds } = await freshThread(database.store, 3)
    await erase(threadId, { messageId: messageIds[0] ?? '' })
    expect(await erase(threadId, { messageId: messageIds[0] ?? '' })).toMatchObject({ erased: 0, found: 1 })
    expect(await erase(threadId, { fromSeq: 1, toSeq: 2 })).toMatchObject({ erased: 1, found: 2 })
    expect(await erase(threadId, { fromSeq: 7, toSeq: 9 })).toMatchObject({ erased: 0, found: 0 })
    const thread = await inProject(PROJECT, (tx) => loadThread(tx, { threadId }))
    expect(thread?.erasedCount).toBe(2)
  })

  it('takes a message that is sent again, by its id or by its source, for a repeat', async () => {
    const thread = 'sent again'
    const send = (messages: ReturnType<typeof prepared>[]) =>
      appendOne(database.store, append(messages, { agent: 'repeats', thread }))
    const secret = prepared({ content: 'a secret', sourceId: 'chat-7' })
    const { threadId } = await send([prepared({ content: 'before' }), secret])
    await erase(threadId, { messageId: secret.input.id })

    const later = prepared({ content: 'later' })
    expect(await send([secret, later])).toMatchObject({ stored: 1, repeated: 1, error: null })
    expect(await send([prepared({ content: 'a secret', sourceId: 'chat-7' })])).toMatchObject({
      stored: 0,
      repeated: 1,
    })
    const changed = prepared({ id: secret.input.id, content: 'the secret, changed' })
    expect(await send([changed])).toMatchObject({ stored: 0, repeated: 1, error: null })
    expect(await historyOf(threadId)).toEqual([
      [1, 'before'],
      [2, 'erased'],
      [3, 'later'],
    ])
  })

  it('removes the archived content, and keeps one that another message has as well', async () => {
    const { threadId, messageIds } = await freshThread(database.store, 3)
    const archived = (index: number, content: string) => ({
      threadId,
      messageId: messageIds[index] ?? '',
      contentType: 'bash',
      summary: 's',
      toolName: null,
      tokenCount: 1,
      originalCreatedAtMs: RECEIVED_AT_MS,
      content,
      filePaths: [],
    })
    const entries = [archived(0, 'alone'), archived(1, 'shared'), archived(2, 'shared')]
    await inProject(PROJECT, (tx) => archiveEntries(tx, entries))
    await erase(threadId, { fromSeq: 1, toSeq: 2 })
    const left = await asOwner(
      database.url,
      (sql) => sql`
        select archive.message_id, content.reference_count from heddle.archive
        join heddle.archive_contents as content on content.hash = archive.content_hash
        where archive.thread_id = ${threadId}`,
    )
    expect([...left]).toEqual([{ message_id: messageIds[2], reference_count: 1 }])
  })

  it('refuses what was derived from the thread before', async () => {
    const { threadId, messageIds } = await freshThread(database.store, 3)
    const part = { threadId, summarizer: 'test', headSeq: 3, hash: '01', summary: 'of all three' }
    const partsOf = async () =>
      await asOwner(database.url, (sql) => sql`select from heddle.summary_parts where thread_id = ${threadId}`)
    await erase(threadId, { messageId: messageIds[2] ?? '' })
    await inProject(PROJECT, (tx) => recordSummaryPart(tx, { ...part, erasedCount: 0 }))
    expect(await partsOf()).toHaveLength(0)
    expect(await inProject(PROJECT, (tx) => advanceEmbedCursor(tx, { threadId, toSeq: 3, erasedCount: 0 }))).toBe(false)
    await inProject(PROJECT, (tx) => recordSummaryPart(tx, { ...part, erasedCount: 1 }))
    expect(await partsOf()).toHaveLength(1)
    expect(await inProject(PROJECT, (tx) => advanceEmbedCursor(tx, { threadId, toSeq: 3, erasedCount: 1 }))).toBe(true)
  })

  it('refuses a context that was built from the thread before, and waits for one that is being stored', async () => {
    const { thread, threadId, messageIds } = await freshThread(database.store, 3)
    const receipt = { stateId: null, agentVersion: 1, headSeq: 3, entries: [], sections: [] }
    const finish = (tx: Tx, erasedCount: number) =>
      finishContext(tx, {
        id: newId(),
        result: { receipt, budget: 9, tokensUsed: 1, summaryUsed: false, messages: [] } as never,
        asked: { threadId, request: { thread }, deadlineAtMs: Date.now() + 9_000 },
        erasedCount,
      })
    const stored = await heldTransaction(database.store, (tx) => finish(tx, 0))
    const erasing = erase(threadId, { messageId: messageIds[1] ?? '' })
    await whenBlocked(database)
    await stored.commit()
    await erasing
    await expect(inProject(PROJECT, (tx) => finish(tx, 0))).rejects.toThrow(/erased meanwhile/)
    expect(await inProject(PROJECT, (tx) => finish(tx, 1))).toBe(true)
    const rows = await asOwner(
      database.url,
      (sql) => sql`select status from heddle.contexts where thread_id = ${threadId} order by built_at`,
    )
    expect(rows.map((row) => row['status'])).toEqual(['failed', 'built'])
  })

  it('erases the requests of more messages than are read at once', async () => {
    const { thread, threadId } = await freshThread(database.store, 120)
    const receipt = { stateId: null, agentVersion: 1, headSeq: 0, entries: [], sections: [] }
    await inProject(PROJECT, async (tx) => {
      for (let index = 0; index < 120; index++)
        await finishContext(tx, {
          id: newId(),
          result: { receipt, budget: 9, tokensUsed: 1, summaryUsed: false, messages: [] } as never,
          asked: { threadId, request: { thread, message: `${thread} ${index}` }, deadlineAtMs: Date.now() + 9_000 },
          erasedCount: 0,
        })
    })
    await begin(threadId, { fromSeq: 2, toSeq: 119 })
    const left = await asOwner(
      database.url,
      (sql) => sql`
        select request ->> 'message' as message from heddle.contexts
        where thread_id = ${threadId} and status = 'built' order by id`,
    )
    expect(left.map((row) => row['message']).sort()).toEqual([`${thread} 0`, `${thread} 119`])
  })

  it('removes vectors in steps of a limited size, and those of other messages in no step', async () => {
    const { threadId } = await freshThread(database.store, 60)
    await inProject(PROJECT, async (tx) => {
      for (let seq = 1; seq <= 60; seq++) {
        const places = packPlaces([{ seq, from: 0, to: 4 }])
        await tx`
          insert into heddle.vectors (thread_id, model, first_chunk, chunks, to_seq, places, embedding)
          values (${threadId}, 'test', ${seq}, 1, ${seq}, ${places}, ${Buffer.from([seq])})`
      }
    })
    const left = async () => {
      const rows = await asOwner(
        database.url,
        (sql) => sql`select first_chunk from heddle.vectors where thread_id = ${threadId} order by first_chunk`,
      )
      return rows.map((row) => Number(row['first_chunk']))
    }
    const { target } = await begin(threadId, { fromSeq: 2, toSeq: 51 })
    let steps = 0
    const afterOneStep = {
      throwIfAborted() {
        if (++steps > 1) throw new Error('stopped')
      },
    } as AbortSignal
    await expect(continueErasure(database.store, target, afterOneStep)).rejects.toThrow('stopped')
    expect(await left()).toHaveLength(40)
    await continueErasure(database.store, target)
    expect(await left()).toEqual([1, 52, 53, 54, 55, 56, 57, 58, 59, 60])
    expect(await inProject(PROJECT, (tx) => loadErasure(tx, target))).toMatchObject({ removed: { vectors: 50 } })
  })

  it('searches snapshots in steps of a limited size, and each of them once', async () => {
    const { agentId, thread, threadId, messageIds } = await freshThread(database.store, 2)
    const sessions = Array.from({ length: 12 }, () => newId()).sort()
    // Random bytes are not compressed: each snapshot with the message has half a megabyte.
    const noise = randomBytes(500_000).toString('base64')
    await inProject(PROJECT, async (tx) => {
      for (const [index, id] of sessions.entries()) {
        const messages = messageIds.map((messageId, place) => ({
          id: messageId,
          thread_id: threadId,
          role: 'user' as const,
          content: place === 0 ? noise : `${thread} stays`,
          timestamp: '2026-02-12T14:30:00.000Z',
        }))
        // The last ones have only the message that stays.
        const file = {
          session_id: id,
          timestamp: '2026-02-12T14:30:00.000Z',
          description: null,
          summary: 'They wove.',
          message_count: 0,
          window_start: null,
          window_end: '2026-02-12T14:30:00.000Z',
          messages: index < 10 ? messages : messages.slice(1),
        }
        await tx`
          insert into heddle.snapshots (
            id, agent_id, status, created_at, deadline_at, stored_in, file_name, content, message_count, thread_ids, summary)
          values (
            ${id}, ${agentId}, 'saved', now(), now(), 'postgres', 'none', ${deflateSync(JSON.stringify(file))}, ${file.messages.length},
            ${`{${threadId}}`}::uuid[], 'They wove.')`
      }
    })
    const rewritten = async () => {
      const rows = await asOwner(
        database.url,
        (sql) => sql`select id from heddle.snapshots where agent_id = ${agentId} and needs_summary order by id`,
      )
      return rows.map((row) => row['id'])
    }
    const { target } = await begin(threadId, { messageId: messageIds[0] ?? '' })
    let steps = 0
    const afterSteps = (count: number) =>
      ({
        throwIfAborted() {
          if (steps++ >= count) throw new Error('stopped')
        },
      }) as AbortSignal
    await expect(continueErasure(database.store, target, afterSteps(1))).rejects.toThrow('stopped')
    const first = await rewritten()
    expect(first.length).toBeGreaterThan(1)
    expect(first.length).toBeLessThan(10)
    expect(first).toEqual(sessions.slice(0, first.length))
    // A snapshot behind the last one that was searched is not read again: here it is made to have the message.
    await asOwner(
      database.url,
      (sql) => sql`
        update heddle.snapshots as given set needs_summary = false, content = other.content
        from heddle.snapshots as other where given.id = ${sessions[0] ?? ''} and other.id = ${sessions[9] ?? ''}`,
    )
    await continueErasure(database.store, target)
    expect(await rewritten()).toEqual(sessions.slice(1, 10))
    expect(await inProject(PROJECT, (tx) => loadErasure(tx, target))).toMatchObject({
      removed: { snapshots_rewritten: 10 },
      finishedAtMs: expect.any(Number),
    })
  })

  it('is continued by any process after the one that began it died', async () => {
    const { threadId, messageIds } = await freshThread(database.store, 3)
    const entry = { threadId, contentType: 'bash', summary: 's', toolName: null, tokenCount: 1, filePaths: [] }
    await inProject(PROJECT, (tx) =>
      archiveEntries(tx, [
        { ...entry, messageId: messageIds[0] ?? '', content: 'left behind', originalCreatedAtMs: RECEIVED_AT_MS },
      ]),
    )
    const { target } = await begin(threadId, { messageId: messageIds[0] ?? '' })
    const unfinished = () => findUnfinishedErasures(database.store, { limit: 100, begunBeforeMs: Date.now() + 60_000 })
    expect(await unfinished()).toContainEqual(target)
    await Promise.all([continueErasure(database.store, target), continueErasure(database.store, target)])
    expect(await unfinished()).not.toContainEqual(target)
    expect(await inProject(PROJECT, (tx) => loadErasure(tx, target))).toMatchObject({
      removed: { messages: 1, archive: 1, archive_contents: 1 },
      finishedAtMs: expect.any(Number),
    })
  })
})
