import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLocalEmbedder, type LocalEmbedderOptions } from '@heddle/models'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { writeTinyModel } from '../support/src/models/tiny-model.js'

let modelsDir = ''
beforeAll(async () => {
  modelsDir = await mkdtemp(join(tmpdir(), 'heddle-models-'))
  await Promise.all(['whole', 'other', 'spoilt'].map((name) => writeTinyModel(join(modelsDir, 'test', name))))
  return () => rm(modelsDir, { recursive: true })
})

async function open(name: string, options: Partial<LocalEmbedderOptions> = {}) {
  const embedder = await createLocalEmbedder({ model: `test/${name}`, modelsDir, cacheDir: modelsDir, ...options })
  onTestFinished(() => embedder.close())
  return embedder
}

test('a model with other dimensions than declared is a permanent error that names the field', async () => {
  const file = join(modelsDir, 'test', 'other', 'config.json')
  await writeFile(file, (await readFile(file, 'utf8')).replace('384', '768'))
  const embedder = await open('other')
  expect(embedder.dimensions).toBe(768)
  await expect(embedder.embed(['a'])).rejects.toMatchObject({
    code: 'VALIDATION_ERROR',
    disposition: 'give-up',
    field: 'hidden_size',
    message: expect.stringContaining('returned 384 dimensions instead of the 768 in its config.json'),
  })
})

test('damaged weights are a permanent error, each time', async () => {
  await writeFile(join(modelsDir, 'test', 'spoilt', 'onnx', 'model_quantized.onnx'), 'nonsense')
  const embedder = await open('spoilt')
  for (let time = 0; time < 5; time++) {
    await expect(embedder.embed(['a'])).rejects.toMatchObject({ disposition: 'give-up', field: 'embedder.model' })
  }
})

test('a hanging worker thread is a timeout, and after several in a row the model is not called for a while', async () => {
  let nowMs = 0
  let isHanging = true
  // The deadline passes as soon as a request was sent, while the thread hangs.
  const clock = {
    monotonicMs: () => nowMs,
    after: (_ms: number, callback: () => void) => {
      const soon = isHanging ? setImmediate(callback) : undefined
      return () => clearImmediate(soon)
    },
  }
  const embedder = await open('whole', { clock })
  for (let time = 0; time < 3; time++) {
    await expect(embedder.embed(['a'])).rejects.toMatchObject({ code: 'TIMEOUT', disposition: 'retry' })
  }
  isHanging = false
  await expect(embedder.embed(['a'])).rejects.toMatchObject({
    code: 'SERVICE_UNAVAILABLE',
    message: expect.stringContaining('is not called for a while'),
    retryAfter: 30,
  })
  nowMs += 30_000
  expect((await embedder.embed(['a'])).length).toBe(1)
})
