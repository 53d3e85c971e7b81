import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { projectIdOf, threadIdOf } from '@heddle/core'
import { chooseEmbedder, type Embedder, type EmbedderSettings } from '@heddle/models'
import { loadThread } from '@heddle/store'
import { waitFor } from '@heddle/test-support'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { writeTinyModel } from '../../support/src/models/tiny-model.js'
import { pipelineOfTests, queueBackends } from '../support.js'

const QUESTION = 'How do I authenticate requests?'

let modelsDir = ''
beforeAll(async () => {
  modelsDir = await mkdtemp(join(tmpdir(), 'heddle-models-'))
  await writeTinyModel(join(modelsDir, 'test', 'damaged'))
  await writeFile(join(modelsDir, 'test', 'damaged', 'onnx', 'model_quantized.onnx'), 'nonsense')
  return () => rm(modelsDir, { recursive: true })
})

/** The embedder of a process with this configuration; nothing is downloaded. */
async function chosen(settings: Partial<EmbedderSettings>): Promise<Embedder> {
  const unset = { kind: 'auto', model: null, modelsDir, baseUrl: null, dimensions: null, threads: 1 } as const
  const log = { info: () => {}, warn: () => {} }
  const { embedder } = await chooseEmbedder({ ...unset, ...settings }, { env: { TRANSFORMERS_CACHE: modelsDir }, log })
  onTestFinished(() => embedder.close())
  return embedder
}

describe.each(queueBackends())('without a model on $title', ({ mode, skip }) => {
  describe.skipIf(skip)('in a pipeline', () => {
    const own = pipelineOfTests(mode)

    /** A thread of an agent with a rule that is relevant to the query. */
    async function openThread(agent: string): Promise<string> {
      const { client } = own.pipeline
      const text = 'Authenticate requests with a bearer token.'
      await client.items.put(agent, { type: 'rule', name: 'authentication', text, include: 'agent' })
      await client.threads.put(`${agent} run`, { agent })
      return `${agent} run`
    }

    test.each([
      ['its files', 'test/missing', /^NOT_FOUND: .*test\/missing was not found/],
      ['whole files', 'test/damaged', /^VALIDATION_ERROR: .*test\/damaged/],
    ])('a model without %s leaves the selection out, and the receipt names the fault', async (_, model, reason) => {
      await own.start(['assemble'], { embedder: await chosen({ kind: 'local', model }) })
      const thread = await openThread(model)
      const context = await own.pipeline.client.contexts.build({ thread, message: QUESTION })
      expect(context.items).toEqual([])
      expect(context.receipt.selection).toEqual({ model: null, skipped: expect.stringMatching(reason) })
      expect(context.receipt.embedder).toBeUndefined()
    })

    test('a selection without a model compares words, and the receipt says so', async () => {
      await own.start(['assemble'], { embedder: await chosen({ model: 'test/missing' }) })
      const thread = await openThread('words')
      const context = await own.pipeline.client.contexts.build({ thread, message: QUESTION })
      expect(context.items).toMatchObject([{ name: 'authentication', includeMode: 'agent' }])
      expect(context.receipt.selection).toEqual({ model: 'heddle-hashing-384-v1', skipped: null })
      expect(context.receipt.embedder).toBe('heddle-hashing-384-v1')
    })

    test('the embed stage tries a missing model once, and then skips the thread for a while', async () => {
      const embedder = await chosen({ kind: 'local', model: 'test/missing' })
      let calls = 0
      const counted: Embedder = {
        ...embedder,
        embed(texts, signal) {
          calls++
          return embedder.embed(texts, signal)
        },
      }
      await own.start(['ingest', 'embed'], { embedder: counted })
      const { client, store } = own.pipeline
      await client.messages.append({ agent: 'a', thread: 'given up', messages: [{ role: 'user', content: 'hello' }] })
      const projectId = projectIdOf('tests')
      const failed = await waitFor(async () => {
        const threadId = threadIdOf(projectId, 'given up')
        const thread = await store.inProject(projectId, (tx) => loadThread(tx, { threadId }))
        return thread?.lastError != null && thread
      })
      expect(failed.lastError).toMatch(/^embed: .*test\/missing was not found/)
      expect(failed.retryAtMs).toBeGreaterThan(Date.now() + 60_000)
      expect(calls).toBe(1)
    })
  })
})
