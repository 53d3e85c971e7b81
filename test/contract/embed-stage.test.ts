import type { WakeJob } from '@heddle/contracts'
import { agentIdOf, cosineOfQuantized, quantizeVector, threadIdOf } from '@heddle/core'
import { embed } from '@heddle/embed'
import { createHashingEmbedder, type Embedder } from '@heddle/models'
import type { Job } from '@heddle/queue'
import { findThreadsToReembed, loadModelCoverage, loadThread, loadVectors, type Store } from '@heddle/store'
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { append, appendOne, freshStore, newId, OTHER_PROJECT, PROJECT, prepared } from './store/support.js'

let store: Store

beforeAll(async () => {
  const fresh = await freshStore()
  store = fresh.store
  return fresh.drop
})

/** A model whose vectors are stored: not those of a hashing embedder. */
const STORED_MODEL = 'words-384'

/** Counts the texts of its calls. */
function countingEmbedder(model = STORED_MODEL): Embedder & { texts: number } {
  const inner = createHashingEmbedder()
  const counting = {
    model,
    dimensions: inner.dimensions,
    texts: 0,
    async embed(texts: readonly string[], signal?: AbortSignal) {
      counting.texts += texts.length
      return await inner.embed(texts, signal)
    },
    close: () => inner.close(),
  }
  return counting
}

function jobFor(thread: string, { signal = new AbortController().signal, projectId = PROJECT } = {}): Job<WakeJob> {
  return {
    payload: { projectId, threadId: threadIdOf(projectId, thread) },
    jobId: newId(),
    attempt: 1,
    attemptsMax: 5,
    signal,
  }
}

function depsWith(embedder: Embedder) {
  return { store, embedder, settings: {}, log: { info: () => {} }, clock: { nowMs: () => 0 } }
}

async function embedSeqOf(thread: string): Promise<number | undefined> {
  const threadId = threadIdOf(PROJECT, thread)
  return (await store.inProject(PROJECT, (tx) => loadThread(tx, { threadId })))?.embedSeq
}

async function chunksOf(thread: string, model = STORED_MODEL) {
  const threads = [{ threadId: threadIdOf(PROJECT, thread), afterSeq: 0 }]
  const loaded = await store.inProject(PROJECT, (tx) => loadVectors(tx, { model, threads }))
  return loaded.flatMap(({ places, vectors }) =>
    places.map((place, index) => ({ ...place, vector: vectors.slice(index * 384, (index + 1) * 384) })),
  )
}

test('vectors of a hashing embedder are counted and not stored', async () => {
  const embedder = countingEmbedder(createHashingEmbedder().model)
  await appendOne(store, append([prepared({ content: 'A text.' })], { thread: 'remade' }))
  expect(await embed(jobFor('remade'), depsWith(embedder))).toEqual({ kind: 'done', next: [] })
  expect(await chunksOf('remade', embedder.model)).toEqual([])
  expect(embedder.texts).toBe(0)
  const threadId = threadIdOf(PROJECT, 'remade')
  const [counted] = await store.inProject(
    PROJECT,
    (tx) => tx`select to_seq, chunks from heddle.vector_threads where thread_id = ${threadId}`,
  )
  expect(counted).toEqual({ toSeq: 1, chunks: 1 })
})

test('embed stores vectors for messages, moves the cursor to the head, and does nothing on a replay', async () => {
  const said = prepared({ content: 'The deployment of the payment service failed.' })
  const system = prepared({ role: 'system', content: 'Be brief.' })
  await appendOne(store, append([said, system], { thread: 'replayed' }))
  const embedder = countingEmbedder()
  expect(await embed(jobFor('replayed'), depsWith(embedder))).toEqual({ kind: 'done', next: [] })

  const [chunk, ...more] = await chunksOf('replayed')
  expect(more).toEqual([])
  expect(chunk).toMatchObject({ seq: 1, from: 0, to: 45 })
  const [expected = new Float32Array()] = await embedder.embed([said.input.content])
  expect(cosineOfQuantized(chunk?.vector ?? new Int8Array(), quantizeVector(expected))).toBe(1)
  expect(await embedSeqOf('replayed')).toBe(2)

  embedder.texts = 0
  expect(await embed(jobFor('replayed'), depsWith(embedder))).toMatchObject({ kind: 'skipped' })
  expect(embedder.texts).toBe(0)
})

test('a replay after a lost cursor embeds nothing twice and leaves the same chunks', async () => {
  await appendOne(store, append([prepared({ content: 'one' }), prepared({ content: 'two' })], { thread: 'rewound' }))
  const embedder = countingEmbedder()
  await embed(jobFor('rewound'), depsWith(embedder))
  const before = await chunksOf('rewound')
  await store.inProject(
    PROJECT,
    (tx) => tx`
    update heddle.stage_cursors set embed_seq = 0 where thread_id = ${threadIdOf(PROJECT, 'rewound')}`,
  )
  embedder.texts = 0
  expect(await embed(jobFor('rewound'), depsWith(embedder))).toEqual({ kind: 'done', next: [] })
  expect(embedder.texts).toBe(0)
  expect(await chunksOf('rewound')).toEqual(before)
})

test('a message above the size limit of this worker is left to the worker of large jobs, and nothing changes', async () => {
  const large = prepared({ content: 'words of a text '.repeat(5_000) })
  await appendOne(store, append([prepared({ content: 'small' }), large], { thread: 'large' }))
  const embedder = countingEmbedder()
  const sizeMax = { messages: 150, tokens: 12_000 }
  const here = embed(jobFor('large'), { ...depsWith(embedder), sizeMax })
  await expect(here).rejects.toMatchObject({ name: 'LargeJobError', size: { messages: 1, tokens: 20_000 } })
  expect([embedder.texts, await embedSeqOf('large')]).toEqual([0, 0])
  expect(await embed(jobFor('large'), depsWith(embedder))).toEqual({ kind: 'done', next: [] })
})

test('a message above the size limit is left to the worker of large jobs without being read', async () => {
  const content = 'words of a text '.repeat(70_000)
  await appendOne(store, append([prepared({ content: 'small' }), prepared({ content })], { thread: 'unread' }))
  const sizeMax = { messages: 150, tokens: 12_000 }
  const decoded = vi.spyOn(Buffer.prototype, 'toString')
  onTestFinished(() => decoded.mockRestore())
  const here = embed(jobFor('unread'), { ...depsWith(countingEmbedder()), sizeMax })
  await expect(here).rejects.toMatchObject({ name: 'LargeJobError', size: { messages: 1, tokens: 280_000 } })
  expect(Math.max(...decoded.mock.results.map(({ value }) => String(value).length))).toBeLessThan(content.length)
})

test('a backlog beyond the limit of one job continues in the next job', async () => {
  const messages = Array.from({ length: 1_020 }, (_, ordinal) =>
    prepared({ content: `number ${ordinal}` }, { ordinal }),
  )
  for (let from = 0; from < messages.length; from += 500) {
    await appendOne(store, append(messages.slice(from, from + 500), { thread: 'long' }))
  }
  const job = jobFor('long')
  expect(await embed(job, depsWith(countingEmbedder()))).toEqual({
    kind: 'done',
    next: [{ wake: 'embed', ...job.payload }],
  })
  expect(await embedSeqOf('long')).toBe(1_000)
  expect(await embed(job, depsWith(countingEmbedder()))).toEqual({ kind: 'done', next: [] })
  expect((await chunksOf('long')).length).toBe(1_020)
})

test('two workers on one thread write each batch once', async () => {
  await appendOne(store, append([prepared({ content: 'one' })], { thread: 'raced' }))
  const outcomes = await Promise.all([1, 2].map(() => embed(jobFor('raced'), depsWith(countingEmbedder()))))
  expect(outcomes.map(({ kind }) => kind).sort()).toEqual(['done', 'skipped'])
  expect((await chunksOf('raced')).length).toBe(1)
})

test('a job for an erased thread is skipped', async () => {
  expect(await embed(jobFor('never was'), depsWith(countingEmbedder()))).toEqual({
    kind: 'skipped',
    reason: 'the thread is gone',
    next: [],
  })
})

test('a failing embedder or an abort leaves the cursor unchanged', async () => {
  await appendOne(store, append([prepared({ content: 'one' })], { thread: 'failing' }))
  const closed = countingEmbedder()
  await closed.close()
  await expect(embed(jobFor('failing'), depsWith(closed))).rejects.toMatchObject({ disposition: 'retry' })
  const signal = AbortSignal.abort(new Error('the worker stops'))
  await expect(embed(jobFor('failing', { signal }), depsWith(countingEmbedder()))).rejects.toThrow('the worker stops')
  expect(await embedSeqOf('failing')).toBe(0)
  expect(await chunksOf('failing')).toEqual([])
})

test('a message id that is also used in another project does not stop the stage', async () => {
  const message = prepared({ content: 'copied' })
  for (const projectId of [PROJECT, OTHER_PROJECT]) {
    await appendOne(store, append([message], { thread: 'copied' }), projectId)
    expect(await embed(jobFor('copied', { projectId }), depsWith(countingEmbedder()))).toMatchObject({ kind: 'done' })
  }
  expect((await chunksOf('copied')).length).toBe(1)
})

test('after a change of model threads are embedded again, and the old vectors are searched until all are done', async () => {
  const threads = ['changed one', 'changed two']
  for (const thread of threads) await appendOne(store, append([prepared()], { thread, agent: 'of two models' }))
  const [before, after] = [countingEmbedder('before'), countingEmbedder('after')]
  for (const thread of threads) await embed(jobFor(thread), depsWith(before))
  const threadIds = threads.map((thread) => threadIdOf(PROJECT, thread))
  const found = async () => {
    const work = await findThreadsToReembed(store, { model: 'after', limit: 1_000, nowMs: Date.now() })
    return work.filter(({ threadId }) => threadIds.includes(threadId))
  }
  const coverage = async () => {
    const agentId = agentIdOf(PROJECT, 'of two models')
    const models = await store.inProject(PROJECT, (tx) => loadModelCoverage(tx, { agentId }))
    return models.map(({ model, threadsBehind }) => [model, threadsBehind])
  }
  expect((await found()).map(({ stage }) => stage)).toEqual(['embed', 'embed'])

  expect(await embed(jobFor('changed one'), depsWith(after))).toMatchObject({ kind: 'done' })
  expect(await coverage()).toEqual([
    ['after', 1],
    ['before', 0],
  ])
  for (const thread of threads) expect((await chunksOf(thread, 'before')).length).toBe(1)
  expect((await found()).map(({ threadId }) => threadId)).toEqual([threadIds[1]])

  expect(await embed(jobFor('changed two'), depsWith(after))).toMatchObject({ kind: 'done' })
  expect(await coverage()).toEqual([['after', 0]])
  for (const thread of threads) expect((await chunksOf(thread, 'before')).length).toBe(0)
  expect(await found()).toEqual([])
  expect(after.texts).toBe(2)
  expect(await embed(jobFor('changed one'), depsWith(after))).toMatchObject({ kind: 'skipped' })
})

test('a text that recurs in a batch is embedded once', async () => {
  const messages = Array.from({ length: 5 }, (_, ordinal) => prepared({ content: 'the same' }, { ordinal }))
  await appendOne(store, append(messages, { thread: 'recurring' }))
  const embedder = countingEmbedder()
  await embed(jobFor('recurring'), depsWith(embedder))
  expect(embedder.texts).toBe(1)
  expect((await chunksOf('recurring')).map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5])
})
