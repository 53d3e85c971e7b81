import { randomUUID } from 'node:crypto'
import { type SnapshotFile, threadIdOf } from '@heddle/core'
import {
  advanceEmbedCursor,
  appendEvents,
  appendMessages,
  appendVectors,
  archiveEntries,
  beginErasure,
  continueErasure,
  failContext,
  finishContext,
  insertDeadLetter,
  insertPrunings,
  insertState,
  loadContext,
  loadThread,
  type NewContextState,
  publishSummary,
  putAgent,
  recordTokenCounts,
  requestContext,
  type Tx,
} from '@heddle/store'
import { insertSnapshot } from '@heddle/test-support/samples/insert-snapshot'
import { describe, expect, it } from 'vitest'
import { append, newId, PROJECT, prepared, RECEIVED_AT_MS, storeOfTests, type TestStore } from '../support.js'
import {
  agentTarget,
  erase,
  freshThread,
  heldTransaction,
  nothing,
  rowsBy,
  type TestThread,
  threadTarget,
  whenBlocked,
} from './erasure-support.js'

const database = storeOfTests()

const inProject: TestStore['store']['inProject'] = (projectId, work) => database.store.inProject(projectId, work)

function stateOf({ threadId }: TestThread, fields: Partial<NewContextState> = {}): NewContextState {
  const position = { orderedAtMs: RECEIVED_AT_MS, ordinal: 0, id: newId() }
  const covered = { coveredFrom: position, coveredTo: position, coveredCount: 1, coveredTokens: 9 }
  const summary = { summary: null, summaryTokens: 0, summarizer: null }
  const lane = { lane: 'sandwich', strategy: 'sandwich', clearEpoch: 0, generation: 1, replaces: null }
  const seen = { point: position, headSeq: 3, topIds: [] }
  return { id: newId(), threadId, status: 'pending', ...lane, ...seen, ...covered, ...summary, ...fields }
}

function snapshotOf(threads: readonly TestThread[]): SnapshotFile {
  const timestamp = new Date(RECEIVED_AT_MS).toISOString()
  return {
    session_id: randomUUID(),
    timestamp,
    description: null,
    summary: 'told of all',
    message_count: threads.length,
    window_start: null,
    window_end: timestamp,
    messages: threads.map(({ threadId }) => ({
      id: newId(),
      thread_id: threadId,
      role: 'user' as const,
      content: `of ${threadId}`,
      timestamp,
    })),
  }
}

/**
 * Everything that is written for a thread. `prepare` writes or reads its preconditions; `publish` is the transaction
 * that can conflict with an erasure.
 */
interface Publication {
  prepare?(thread: TestThread): Promise<unknown>
  publish(tx: Tx, thread: TestThread): Promise<unknown>
}

const states = new Map<string, NewContextState>()
const preparedState = async (thread: TestThread) => {
  const state = stateOf(thread)
  states.set(thread.threadId, state)
  await inProject(PROJECT, (tx) => insertState(tx, state))
}
const contexts = new Map<string, string>()
const sisters = new Map<string, TestThread>()
const request = (tx: Tx, { thread, threadId }: TestThread, id = newId()) =>
  requestContext(tx, { id, threadId, request: { thread, message: 'go on' }, deadlineAtMs: Date.now() + 9_000 })

const receipt = { stateId: null, agentVersion: 1, headSeq: 3, entries: [], sections: [] }

const publications: Record<string, Publication> = {
  'an append': {
    publish: (tx, { agent, thread }) =>
      appendMessages(tx, {
        projectId: PROJECT,

        appends: [append([prepared()], { agent, thread })],
      }),
  },
  'token counts': {
    publish: (tx, { threadId }) =>
      recordTokenCounts(tx, { threadId, counts: [{ seq: 1, tokens: 2, reasoningTokens: 0 }] }),
  },
  'a compaction': {
    async publish(tx, thread) {
      const { threadId, messageIds } = thread
      const [messageId = ''] = messageIds
      const state = stateOf(thread)
      if (!(await insertState(tx, state))) return
      const entry = { threadId, messageId, contentType: 'bash', summary: 's', content: `content of ${threadId}` }
      const facts = { filePaths: [], toolName: null, tokenCount: 1, originalCreatedAtMs: 0 }
      const [archiveId = ''] = await archiveEntries(tx, [{ ...entry, ...facts }])
      const pruning = { action: 'condense', text: 'short', calls: null, tokens: 1, reason: 'r' } as const
      await insertPrunings(tx, { threadId, prunings: [{ ...pruning, stateId: state.id, messageId, archiveId }] })
    },
  },
  'a summary': {
    prepare: preparedState,
    publish: (tx, { threadId }) => {
      const stateId = states.get(threadId)?.id ?? ''
      return publishSummary(tx, { stateId, clearEpoch: 0, summary: 'so far', summaryTokens: 2, summarizer: 'test' })
    },
  },
  vectors: {
    async publish(tx, { threadId, agentId, messageIds }) {
      if (!(await advanceEmbedCursor(tx, { erasedCount: 0, threadId, toSeq: 3 }))) return
      const chunks = messageIds.map((_, index) => ({ seq: index + 1, from: 0, to: 4, vector: Int8Array.of(1, 2) }))
      await appendVectors(tx, { threadId, agentId, model: 'm', fromSeq: 0, toSeq: 3, chunks })
    },
  },
  'a requested context': { publish: (tx, thread) => request(tx, thread) },
  'a built context': {
    async prepare(thread) {
      const id = newId()
      contexts.set(thread.threadId, id)
      await inProject(PROJECT, (tx) => request(tx, thread, id))
    },
    publish: (tx, { threadId }) =>
      finishContext(tx, {
        id: contexts.get(threadId) ?? '',
        result: { receipt, budget: 9, tokensUsed: 1, summaryUsed: false, messages: [] } as never,
      }),
  },
  'a built context that its job alone asked for': {
    publish: (tx, { thread, threadId }) => {
      const id = newId()
      contexts.set(threadId, id)
      return finishContext(tx, {
        id,
        result: { receipt, budget: 9, tokensUsed: 1, summaryUsed: false, messages: [] } as never,
        asked: { threadId, request: { thread }, deadlineAtMs: Date.now() + 9_000 },
      })
    },
  },
  'a failed context that its job alone asked for': {
    publish: (tx, { thread, threadId }) =>
      failContext(tx, {
        id: newId(),
        error: { code: 'INTERNAL', detail: 'broke' },
        asked: { threadId, request: { thread }, deadlineAtMs: Date.now() + 9_000 },
      }),
  },
  'a context of a sister thread that tells of it, and that its job alone asked for': {
    async prepare(thread) {
      sisters.set(thread.threadId, await freshThread(database.store, 1, thread.agent))
    },
    publish: (tx, { threadId }) => {
      const id = newId()
      contexts.set(threadId, id)
      const sister = sisters.get(threadId)
      return finishContext(tx, {
        id,
        result: { receipt, budget: 9, tokensUsed: 1, summaryUsed: false, messages: [] } as never,
        mentions: [threadId],
        asked: {
          threadId: sister?.threadId ?? '',
          request: { thread: sister?.thread ?? '' },
          deadlineAtMs: Date.now() + 9_000,
        },
      })
    },
  },
  'a context of a sister thread that tells of it': {
    async prepare(thread) {
      const id = newId()
      contexts.set(thread.threadId, id)
      const sister = await freshThread(database.store, 1, thread.agent)
      await inProject(PROJECT, (tx) => request(tx, sister, id))
    },
    publish: (tx, { threadId }) =>
      finishContext(tx, {
        id: contexts.get(threadId) ?? '',
        result: { receipt, budget: 9, tokensUsed: 1, summaryUsed: false, messages: [] } as never,
        mentions: [threadId],
      }),
  },
  events: {
    publish: (tx, { threadId }) =>
      appendEvents(tx, { projectId: PROJECT, events: [{ topic: 'thread.compacted', threadId }] }),
  },
  'a dead letter': {
    publish: (tx, { threadId, agentId }) =>
      insertDeadLetter(tx, {
        stage: 'ingest',
        jobId: newId(),
        threadId,
        agentId,
        payload: { messages: ['of the thread'] },
        error: { code: 'INTERNAL', detail: 'broke' },
        attempts: 1,
      }),
  },
  'a snapshot': {
    publish: (tx, thread) =>
      insertSnapshot(tx, { agentId: thread.agentId, fileName: 'file', file: snapshotOf([thread]) }),
  },
  'an iteration': {
    publish: (tx, { threadId }) => tx`
      insert into heddle.iterations (thread_id, number, id, happened_at, prompt, output, fingerprint)
      values (${threadId}, 1, ${newId()}, now(), 'p', 'o', '')`,
  },
  'a process': {
    publish: (tx, { threadId }) => tx`
      insert into heddle.processes (thread_id, name, version, status) values (${threadId}, 'tests', 1, 'running')`,
  },
}

async function left({ threadId }: TestThread): Promise<Record<string, number>> {
  const { url } = database
  return { ...(await rowsBy(url, 'thread_id', threadId)), threads: (await rowsBy(url, 'id', threadId))['threads'] ?? 0 }
}

/** Snapshots name their threads inside. */
async function leftOfSnapshots({ agentId }: TestThread): Promise<number> {
  return (await rowsBy(database.url, 'agent_id', agentId))['snapshots'] ?? 0
}

async function expectNothingLeft(thread: TestThread): Promise<void> {
  const counts = await left(thread)
  expect(counts).toEqual(nothing(counts))
  expect(await leftOfSnapshots(thread)).toBe(0)
  const context = contexts.get(thread.threadId)
  if (context === undefined) return
  const row = await inProject(PROJECT, (tx) => loadContext(tx, { id: context }))
  expect(row?.result ?? null).toBeNull()
}

/** A typed error and doing nothing are equivalent here: only the stored rows count. */
const attempt = (thread: TestThread, { publish }: Publication) =>
  inProject(PROJECT, (tx) => publish(tx, thread)).catch((error: unknown) => error)

describe.each(Object.entries(publications))('%s', (_name, publication) => {
  it('that is uncommitted when an erasure begins is waited for and removed', async () => {
    const thread = await freshThread(database.store)
    await publication.prepare?.(thread)
    const held = await heldTransaction(database.store, (tx) => publication.publish(tx, thread))
    const erased = erase(database.store, threadTarget(thread))
    await whenBlocked(database)
    await held.commit()
    await erased
    await expectNothingLeft(thread)
  })

  it('that is written while the tombstone is inserted waits or is refused', async () => {
    const thread = await freshThread(database.store)
    await publication.prepare?.(thread)
    const held = await heldTransaction(database.store, (tx) => beginErasure(tx, threadTarget(thread)))
    const attempted = attempt(thread, publication)
    await Promise.race([attempted, whenBlocked(database)])
    await held.commit()
    await continueErasure(database.store, threadTarget(thread))
    await attempted
    await expectNothingLeft(thread)
  })

  it('that is written while the row of the thread is deleted stores nothing', async () => {
    const thread = await freshThread(database.store)
    await publication.prepare?.(thread)
    await inProject(PROJECT, (tx) => beginErasure(tx, threadTarget(thread)))
    const held = await heldTransaction(database.store, async (tx) => {
      await tx`delete from heddle.threads where id = ${thread.threadId}`
      await tx`delete from heddle.stage_cursors where thread_id = ${thread.threadId}`
    })
    const attempted = attempt(thread, publication)
    await Promise.race([attempted, whenBlocked(database)])
    await held.commit()
    await attempted
    await continueErasure(database.store, threadTarget(thread))
    await expectNothingLeft(thread)
  })

  it('that is written after the erasure stores nothing', async () => {
    const thread = await freshThread(database.store)
    await publication.prepare?.(thread)
    await erase(database.store, threadTarget(thread))
    await attempt(thread, publication)
    await expectNothingLeft(thread)
  })
})

describe('a thread that is being created', () => {
  const create = (agent: string, thread: string) => (tx: Tx) =>
    appendMessages(tx, {
      projectId: PROJECT,

      appends: [append([prepared()], { agent, thread })],
    })

  it('is erased with its agent', async () => {
    const first = await freshThread(database.store)
    const second = `${first.thread} more`
    const held = await heldTransaction(database.store, create(first.agent, second))
    const erased = erase(database.store, agentTarget(first))
    await whenBlocked(database)
    await held.commit()
    await erased
    await expectNothingLeft({ ...first, threadId: threadIdOf(PROJECT, second) })
  })

  it('is not created while the tombstone of its agent is inserted', async () => {
    const first = await freshThread(database.store)
    const second = `${first.thread} more`
    const held = await heldTransaction(database.store, (tx) => beginErasure(tx, agentTarget(first)))
    const refused = expect(inProject(PROJECT, create(first.agent, second))).rejects.toMatchObject({
      disposition: 'retry',
    })
    await whenBlocked(database)
    await held.commit()
    await refused
    expect(await inProject(PROJECT, create(first.agent, second))).toMatchObject([{ error: { code: 'CONFLICT' } }])
    await continueErasure(database.store, agentTarget(first))
    await expectNothingLeft({ ...first, threadId: threadIdOf(PROJECT, second) })
  })

  it('is not created when only its jobs existed at the erasure', async () => {
    const [agent, thread] = [newId(), newId()]
    const target = { projectId: PROJECT, kind: 'thread', targetId: threadIdOf(PROJECT, thread) } as const
    const held = await heldTransaction(database.store, (tx) => beginErasure(tx, target, { evenIfMissing: true }))
    const refused = expect(inProject(PROJECT, create(agent, thread))).rejects.toMatchObject({ disposition: 'retry' })
    await whenBlocked(database)
    await held.commit()
    await refused
    expect(await inProject(PROJECT, (tx) => loadThread(tx, { threadId: target.targetId }))).toBeNull()
  })
})

describe('an agent', () => {
  it('that was erased cannot be created again, also while its tombstone is inserted', async () => {
    const thread = await freshThread(database.store)
    const put = () =>
      inProject(PROJECT, (tx) => putAgent(tx, { projectId: PROJECT, name: thread.agent, systemPrompt: 's' }))
    const held = await heldTransaction(database.store, (tx) => beginErasure(tx, agentTarget(thread)))
    const refused = expect(put()).rejects.toMatchObject({ code: 'CONFLICT', field: 'agent' })
    await whenBlocked(database)
    await held.commit()
    await refused
    await continueErasure(database.store, agentTarget(thread))
    await expect(put()).rejects.toMatchObject({ code: 'CONFLICT' })
    expect(await rowsBy(database.url, 'agent_id', thread.agentId)).toMatchObject({ agent_versions: 0, threads: 0 })
  })
})

describe('a snapshot of several threads', () => {
  it('that is saved while one of them is erased keeps only the others', async () => {
    const gone = await freshThread(database.store)
    const stays = await freshThread(database.store, 3, gone.agent)
    const file = snapshotOf([gone, stays])
    await erase(database.store, threadTarget(gone))
    const kept = await inProject(PROJECT, (tx) => insertSnapshot(tx, { agentId: gone.agentId, fileName: 'f', file }))
    expect(kept?.messages.map(({ thread_id }) => thread_id)).toEqual([stays.threadId])
    expect(kept?.summary).not.toContain('told')
  })
})
