import type { WakeJob } from '@heddle/contracts'
import { type Embedder, quantizeVector } from '@heddle/models'
import { done, type Job, type Outcome, skipped } from '@heddle/queue'
import type { Clock, Logger } from '@heddle/runtime'
import {
  advanceCursor,
  type ChunkedSource,
  clearThreadFailure,
  loadChunkHashes,
  loadMessagesBySeq,
  loadThread,
  replaceChunks,
  type Store,
  type ThreadRow,
} from '@heddle/store'
import { BATCHES_PER_JOB_MAX, MESSAGES_PER_BATCH_MAX } from './limits.js'
import { changedSources, type Source, sourceOf } from './sources.js'

export interface EmbedDeps {
  readonly store: Store
  readonly embedder: Embedder
  readonly log: Pick<Logger, 'info'>
  readonly clock: Pick<Clock, 'nowMs'>
}

/**
 * Embeds what a thread has got since the stage last looked: texts of messages and the beginnings of tool results, up to the
 * thread's head. Vectors and cursor change in one transaction, so that a replay finds either all of a batch or nothing.
 */
export async function embed(job: Job<WakeJob>, deps: EmbedDeps): Promise<Outcome> {
  const { projectId, threadId } = job.payload
  const startedAtMs = deps.clock.nowMs()
  const thread = await deps.store.inProject(projectId, (tx) => loadThread(tx, { threadId }))
  if (thread === null) return skipped('the thread is gone')
  if (thread.embedSeq >= thread.headSeq) return skipped('the cursor is at the head')

  const again = [{ wake: 'embed' as const, projectId, threadId }]
  let cursor = thread.embedSeq
  let chunkCount = 0
  for (let batch = 0; batch < BATCHES_PER_JOB_MAX && cursor < thread.headSeq; batch++) {
    job.signal.throwIfAborted()
    const loaded = await loadBatch(deps, projectId, threadId, cursor)
    if (loaded.toSeq === cursor) return skipped('the messages are gone')
    const chunked = await embedSources(deps.embedder, loaded.sources, thread, job.signal)
    const moved = await recordBatch(deps, projectId, { threadId, fromSeq: cursor, toSeq: loaded.toSeq, chunked })
    if (!moved) return skipped('another worker moved the cursor, or the thread is gone', again)
    cursor = loaded.toSeq
    chunkCount += chunked.reduce((sum, { chunks }) => sum + chunks.length, 0)
  }

  const facts = { threadId, messageCount: cursor - thread.embedSeq, chunkCount, model: deps.embedder.model }
  deps.log.info({ ...facts, tookMs: deps.clock.nowMs() - startedAtMs }, 'embedded')
  return done(cursor < thread.headSeq ? again : [])
}

/** The next messages past the cursor, as the sources among them that need vectors. */
async function loadBatch(
  { store, embedder: { model } }: EmbedDeps,
  projectId: string,
  threadId: string,
  afterSeq: number,
): Promise<{ toSeq: number; sources: Source[] }> {
  return await store.inProject(projectId, async (tx) => {
    const messages = await loadMessagesBySeq(tx, { threadId, afterSeq, limit: MESSAGES_PER_BATCH_MAX })
    const sources = messages.map(sourceOf).filter((source) => source !== null)
    const known = await loadChunkHashes(tx, {
      model,
      threadId,
      sourceIds: sources.map(({ messageId }) => messageId),
    })
    return { toSeq: messages.at(-1)?.seq ?? afterSeq, sources: changedSources(sources, known) }
  })
}

/** All chunks of the batch go to the embedder at once, which sorts them by length. */
async function embedSources(
  embedder: Embedder,
  sources: readonly Source[],
  thread: ThreadRow,
  signal: AbortSignal,
): Promise<ChunkedSource[]> {
  if (sources.length === 0) return []
  const texts = sources.flatMap(({ chunks }) => chunks.map(({ text }) => text))
  const vectors = (await embedder.embed(texts, signal)).values()
  return sources.map(({ messageId, contentHash, chunks }) => ({
    sourceId: messageId,
    sourceKind: 'message',
    agentId: thread.agentId,
    threadId: thread.threadId,
    contentHash,
    chunks: chunks.map(({ from, to }) => ({ from, to, embedding: quantizeVector(nextOf(vectors)) })),
  }))
}

function nextOf(vectors: Iterator<Float32Array>): Float32Array {
  const next = vectors.next()
  if (next.done) throw new Error('the embedder gave fewer vectors than texts')
  return next.value
}

/**
 * The cursor first: it locks the thread's row, so that of two workers one writes, and nothing is written for a thread that
 * was erased meanwhile.
 */
async function recordBatch(
  { store, embedder: { model } }: EmbedDeps,
  projectId: string,
  batch: { threadId: string; fromSeq: number; toSeq: number; chunked: readonly ChunkedSource[] },
): Promise<boolean> {
  const { threadId, fromSeq, toSeq, chunked } = batch
  return await store.inProject(projectId, async (tx) => {
    if (!(await advanceCursor(tx, { threadId, stage: 'embed', fromSeq, toSeq }))) return false
    await replaceChunks(tx, { model, sources: chunked })
    await clearThreadFailure(tx, { threadId, stages: ['embed'] })
    return true
  })
}
