import type { PartialSettings, WakeJob } from '@heddle/contracts'
import { hasRemadeVectors, quantizeVector, type Source, sourcesOf } from '@heddle/core'
import type { Embedder } from '@heddle/models'
import { done, type Job, type Outcome, refuseLargeJob, skipped, type WorkSize } from '@heddle/queue'
import type { Clock, Logger } from '@heddle/runtime'
import { runCooperatively } from '@heddle/runtime'
import {
  advanceEmbedCursor,
  appendPostings,
  appendVectors,
  clearThreadFailure,
  type EmbeddedChunk,
  estimateNext,
  type HistoryMessage,
  holdPostings,
  holdThread,
  type IndexedMessage,
  listMessages,
  loadCallsOf,
  loadThread,
  loadVectorStanding,
  mergePostings,
  noteRemadeVectors,
  retireOtherModels,
  type Store,
  type ThreadRow,
  wordsOf,
} from '@heddle/store'
import { noteItemUses } from './item-uses.js'
import { BATCHES_PER_JOB_MAX, MESSAGES_PER_BATCH_MAX } from './limits.js'

export interface EmbedDeps {
  readonly store: Store
  readonly embedder: Pick<Embedder, 'model' | 'embed'>
  /** Settings of the file and the environment, under those of agents. */
  readonly settings: PartialSettings
  readonly log: Pick<Logger, 'info'>
  readonly clock: Pick<Clock, 'nowMs'>
  /** Largest message whose words are extracted in this process. Default: unlimited. */
  readonly sizeMax?: WorkSize | undefined
}

/**
 * Indexes a thread's new messages up to its head: all by words, texts of messages and the beginnings of tool results also by
 * vectors. Words, vectors and cursors change in one transaction, so a replay finds either all of a batch or nothing. If the
 * vectors cannot be computed, the words are stored without them.
 *
 * Vectors have a cursor for each model: with another model the stage starts from the first message, and the old vectors stay
 * until the new model has caught up. Those of a hashing embedder are only counted: searches make them from the texts.
 *
 * @throws LargeJobError if a message is larger than `sizeMax`; earlier batches are kept
 */
export async function embed(job: Job<WakeJob>, deps: EmbedDeps): Promise<Outcome> {
  const { projectId, threadId } = job.payload
  const { model } = deps.embedder
  const startedAtMs = deps.clock.nowMs()
  // Both cursors are read from one snapshot; otherwise a concurrent batch of another worker could look half done.
  const [thread, vectors] = await deps.store.inProject(
    projectId,
    (tx) => Promise.all([loadThread(tx, { threadId }), loadVectorStanding(tx, { threadId, model })]),
    { snapshot: true },
  )
  if (thread === null) return skipped('the thread is gone')
  let cursor = Math.min(vectors.toSeq, thread.embedSeq)
  if (cursor >= thread.headSeq) return skipped('the cursor is at the head')

  const again = [{ wake: 'embed' as const, projectId, threadId }]
  let vectorSeq = vectors.toSeq
  const startSeq = cursor
  let chunkCount = 0
  for (let batch = 0; batch < BATCHES_PER_JOB_MAX && cursor < thread.headSeq; batch++) {
    job.signal.throwIfAborted()
    const { toSeq, sources, words, messages } = await loadBatch(deps, projectId, thread, cursor)
    if (toSeq === cursor) return skipped('the messages are gone')
    await noteItemUses(deps, { projectId, threadId, afterSeq: thread.embedSeq, messages })
    const found = { threadId, agentId: thread.agentId, erasedCount: thread.erasedCount, toSeq, messages: words }
    const missing = sources.filter(({ seq }) => seq > vectorSeq)
    let chunks: EmbeddedChunk[] | number
    try {
      chunks = hasRemadeVectors(model) ? countChunks(missing) : await embedSources(deps.embedder, missing, job.signal)
    } catch (error) {
      await recordWords(deps, projectId, found)
      throw error
    }
    const moved = await recordBatch(deps, projectId, { words: found, vectorSeq, chunks })
    if (!moved) return skipped('another worker moved the cursor, or the thread is gone', again)
    cursor = toSeq
    vectorSeq = Math.max(vectorSeq, toSeq)
    chunkCount += typeof chunks === 'number' ? chunks : chunks.length
  }

  if (vectors.hasOthers && cursor >= thread.headSeq) await retire(deps, projectId, thread.agentId)
  const facts = { threadId, messageCount: cursor - startSeq, chunkCount, model }
  deps.log.info({ ...facts, tookMs: deps.clock.nowMs() - startedAtMs }, 'embedded')
  return done(cursor < thread.headSeq ? again : [])
}

/** The next messages past the cursor: their words, and the sources among them that need vectors. */
async function loadBatch(
  { store, settings, sizeMax }: EmbedDeps,
  projectId: string,
  thread: ThreadRow,
  afterSeq: number,
): Promise<{ toSeq: number; sources: Source[]; words: IndexedMessage[]; messages: readonly HistoryMessage[] }> {
  const { threadId } = thread
  const { toSeq, messages, calls } = await store.inProject(
    projectId,
    async (tx) => {
      const next = { threadId, afterSeq, limit: MESSAGES_PER_BATCH_MAX }
      if (sizeMax !== undefined && thread.tokensEstimate > sizeMax.tokens)
        refuseLargeJob({ messages: 1, tokens: (await estimateNext(tx, next)).largest }, sizeMax)
      const page = await listMessages(tx, next)
      // A restored message is indexed at its original only, so that a search finds each message once.
      const messages = page.filter(({ restores }) => restores === undefined)
      return { toSeq: page.at(-1)?.seq ?? afterSeq, messages, calls: await loadCallsOf(tx, threadId, messages) }
    },
    { snapshot: true },
  )
  for (const { tokens } of messages) refuseLargeJob({ messages: 1, tokens }, sizeMax)
  return {
    toSeq,
    sources: await runCooperatively(sourcesOf(messages)),
    words: await runCooperatively(wordsOf(messages, { calls, thread, settings })),
    messages,
  }
}

/** Sends all chunks of the batch to the embedder at once, which sorts them by length. A repeated text is embedded once. */
async function embedSources(
  embedder: EmbedDeps['embedder'],
  sources: readonly Source[],
  signal: AbortSignal,
): Promise<EmbeddedChunk[]> {
  const texts = [...new Set(sources.flatMap(({ chunks }) => chunks.map(({ text }) => text)))]
  if (texts.length === 0) return []
  const vectors = await embedder.embed(texts, signal)
  const quantized = new Map(texts.map((text, index) => [text, quantizeVector(vectorAt(vectors, index))]))
  return sources.flatMap(({ seq, chunks }) =>
    chunks.map(({ from, to, text }) => ({ seq, from, to, vector: quantized.get(text) ?? new Int8Array() })),
  )
}

function countChunks(sources: readonly Source[]): number {
  return sources.reduce((sum, { chunks }) => sum + chunks.length, 0)
}

function vectorAt(vectors: readonly Float32Array[], index: number): Float32Array {
  const vector = vectors[index]
  if (vector === undefined) throw new Error('the embedder returned fewer vectors than texts')
  return vector
}

/** Removes vectors of the previous model once this one covers the same messages. */
async function retire({ store, embedder: { model } }: EmbedDeps, projectId: string, agentId: string): Promise<void> {
  let isMore = true
  while (isMore) isMore = await store.inProject(projectId, (tx) => retireOtherModels(tx, { agentId, model }))
}

type FoundWords = Parameters<typeof appendPostings>[1] & Pick<ThreadRow, 'erasedCount'>

/** Stores words only, if the thread still exists; a later attempt adds the vectors. */
async function recordWords({ store }: EmbedDeps, projectId: string, words: FoundWords): Promise<void> {
  await store.inProject(projectId, async (tx) => {
    if (await holdThread(tx, words.threadId, words.toSeq, words.erasedCount)) await appendPostings(tx, words)
  })
}

/**
 * Moves the cursor first: it locks the thread's row, so only one of two workers writes, and nothing is written for a thread
 * that was erased meanwhile.
 */
async function recordBatch(
  { store, embedder: { model } }: EmbedDeps,
  projectId: string,
  batch: { words: FoundWords; vectorSeq: number; chunks: readonly EmbeddedChunk[] | number },
): Promise<boolean> {
  const { words, vectorSeq, chunks } = batch
  const { threadId, agentId, toSeq, erasedCount } = words
  let mergeWaits = false
  const moved = await store.inProject(projectId, async (tx) => {
    if (!(await advanceEmbedCursor(tx, { threadId, toSeq, erasedCount }))) return false
    const range = { threadId, agentId, model, fromSeq: vectorSeq, toSeq }
    const addVectors = () =>
      typeof chunks === 'number' ? noteRemadeVectors(tx, { ...range, chunks }) : appendVectors(tx, { ...range, chunks })
    const [isAdded, postings] = await Promise.all([
      toSeq <= vectorSeq || addVectors(),
      holdPostings(tx, words),
      clearThreadFailure(tx, { threadId, stages: ['embed'] }),
    ])
    if (!isAdded) return false
    mergeWaits = await appendPostings(tx, words, { postings, isLast: true })
    return true
  })
  // Anything left over is removed after the next message of the scope.
  if (mergeWaits) await store.inProject(projectId, (tx) => mergePostings(tx, { agentId }))
  return moved
}
