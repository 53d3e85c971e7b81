import type { WakeJob } from '@heddle/contracts'
import { threadIdOf } from '@heddle/core'
import { embed } from '@heddle/embed'
import {
  cosineOfQuantized,
  createHashingEmbedder,
  type Embedder,
  quantizeVector,
  vectorFromBytes,
} from '@heddle/models'
import type { Job } from '@heddle/queue'
import { loadThread, type Store } from '@heddle/store'
import { beforeAll, expect, test } from 'vitest'
import { append, appendOne, freshStore, newId, OTHER_PROJECT, PROJECT, prepared } from './store/support.js'

let store: Store

beforeAll(async () => {
  const fresh = await freshStore()
  store = fresh.store
  return fresh.drop
})

/** Counts the texts that it was given. */
function countingEmbedder(): Embedder & { texts: number } {
  const inner = createHashingEmbedder()
  const counting = {
    model: inner.model,
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
  return { store, embedder, log: { info: () => {} }, clock: { nowMs: () => 0 } }
}

async function embedSeqOf(thread: string): Promise<number | undefined> {
  const threadId = threadIdOf(PROJECT, thread)
  return (await store.inProject(PROJECT, (tx) => loadThread(tx, { threadId })))?.embedSeq
}

async function chunksOf(thread: string) {
  return await store.inProject(
    PROJECT,
    (tx) => tx<
      { sourceId: string; model: string; fromCharacter: number; toCharacter: number; embedding: Uint8Array }[]
    >`
      select source_id, model, from_character, to_character, embedding from heddle.chunks
      where thread_id = ${threadIdOf(PROJECT, thread)} order by source_id, chunk_index`,
  )
}

test('messages get their vectors, the cursor meets the head, and a replay does nothing', async () => {
  const said = prepared({ content: 'The deployment of the payment service failed.' })
  const system = prepared({ role: 'system', content: 'Be brief.' })
  await appendOne(store, append([said, system], { thread: 'replayed' }))
  const embedder = countingEmbedder()
  expect(await embed(jobFor('replayed'), depsWith(embedder))).toEqual({ kind: 'done', next: [] })

  const [chunk, ...more] = await chunksOf('replayed')
  expect(more).toEqual([])
  expect(chunk).toMatchObject({ sourceId: said.input.id, model: embedder.model, fromCharacter: 0, toCharacter: 45 })
  const [expected = new Float32Array()] = await embedder.embed([said.input.content])
  expect(cosineOfQuantized(vectorFromBytes(chunk?.embedding ?? new Uint8Array()), quantizeVector(expected))).toBe(1)
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

test('a backlog past the bound of one job goes on in the next', async () => {
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

test('of two workers on one thread each batch is written once', async () => {
  await appendOne(store, append([prepared({ content: 'one' })], { thread: 'raced' }))
  const outcomes = await Promise.all([1, 2].map(() => embed(jobFor('raced'), depsWith(countingEmbedder()))))
  expect(outcomes.map(({ kind }) => kind).sort()).toEqual(['done', 'skipped'])
  expect((await chunksOf('raced')).length).toBe(1)
})

test('a job for a thread that is gone is skipped', async () => {
  expect(await embed(jobFor('never was'), depsWith(countingEmbedder()))).toEqual({
    kind: 'skipped',
    reason: 'the thread is gone',
    next: [],
  })
})

test('an embedder that fails, or an abort, leaves the cursor where it was', async () => {
  await appendOne(store, append([prepared({ content: 'one' })], { thread: 'failing' }))
  const closed = createHashingEmbedder()
  await closed.close()
  await expect(embed(jobFor('failing'), depsWith(closed))).rejects.toMatchObject({ disposition: 'retry' })
  const signal = AbortSignal.abort(new Error('the worker stops'))
  await expect(embed(jobFor('failing', { signal }), depsWith(countingEmbedder()))).rejects.toThrow('the worker stops')
  expect(await embedSeqOf('failing')).toBe(0)
  expect(await chunksOf('failing')).toEqual([])
})

test('a message id that another project uses too does not stop the stage', async () => {
  const message = prepared({ content: 'copied' })
  for (const projectId of [PROJECT, OTHER_PROJECT]) {
    await appendOne(store, append([message], { thread: 'copied' }), projectId)
    expect(await embed(jobFor('copied', { projectId }), depsWith(countingEmbedder()))).toMatchObject({ kind: 'done' })
  }
  expect((await chunksOf('copied')).length).toBe(1)
})
