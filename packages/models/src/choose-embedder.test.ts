import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { chooseEmbedder, type EmbedderChoice } from './choose-embedder.js'
import { createLocalEmbedder } from './local-embedder.js'
import { findLocalModel, transformersCacheDir } from './local-models.js'

async function emptyFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'heddle-models-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  return folder
}

async function folderWith(files: Record<string, string>): Promise<string> {
  const folder = await emptyFolder()
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), text)
  }
  return folder
}

const damaged = {
  'acme/mini/config.json': '{"model_type":"bert","hidden_size":16}',
  'acme/mini/tokenizer.json': '{}',
  'acme/mini/tokenizer_config.json': '{}',
  'acme/mini/onnx/model_quantized.onnx': 'not a model',
}

function recordingLog() {
  const lines: { level: string; facts: unknown }[] = []
  const record = (level: string) => (facts: unknown) => void lines.push({ level, facts })
  return { lines, log: { info: record('info'), warn: record('warn') } as unknown as EmbedderChoice['log'] }
}

test('without the files of a model, auto takes the hashing embedder, says why and warns', async () => {
  const folder = await emptyFolder()
  const { lines, log } = recordingLog()
  const { embedder, reason } = await chooseEmbedder({ kind: 'auto', modelsDir: folder, cacheDir: folder, log })
  expect(embedder.model).toBe('heddle-hashing-384-v1')
  expect(reason).toContain('Xenova/all-MiniLM-L6-v2 was not found')
  expect(lines).toMatchObject([{ level: 'warn', facts: { model: 'heddle-hashing-384-v1', reason } }])
})

test('with damaged files of a model, auto takes the hashing embedder too', async () => {
  const folder = await folderWith(damaged)
  const { log } = recordingLog()
  const chosen = await chooseEmbedder({ kind: 'auto', model: 'acme/mini', modelsDir: folder, cacheDir: folder, log })
  expect(chosen.embedder.model).toBe('heddle-hashing-384-v1')
  expect(chosen.reason).toContain('could not be loaded')
})

test('local without the files of its model is an error that says where they belong', async () => {
  const folder = await emptyFolder()
  const { log } = recordingLog()
  await expect(
    chooseEmbedder({ kind: 'local', modelsDir: folder, cacheDir: join(folder, 'cache'), log }),
  ).rejects.toMatchObject({ code: 'NOT_FOUND', disposition: 'give-up', hint: expect.stringContaining('HEDDLE_MODELS') })
})

test('hashing is what the configuration asks for, and is told', async () => {
  const { lines, log } = recordingLog()
  const { embedder } = await chooseEmbedder({ kind: 'hashing', modelsDir: null, log })
  expect(embedder.dimensions).toBe(384)
  expect(lines).toMatchObject([{ level: 'info', facts: { model: 'heddle-hashing-384-v1' } }])
})

test('a damaged model is a permanent error at the first call', async () => {
  const folder = await folderWith(damaged)
  const embedder = await createLocalEmbedder({ model: 'acme/mini', modelsDir: folder, cacheDir: folder })
  onTestFinished(() => embedder.close())
  await expect(embedder.embed(['a'])).rejects.toMatchObject({ disposition: 'give-up', field: 'embedder.model' })
})

test('a model is taken from the first folder that has all of its files, quantized weights first', async () => {
  const { 'acme/mini/tokenizer.json': _, ...withoutTokenizer } = damaged
  const [partial, whole] = [await folderWith(withoutTokenizer), await folderWith(damaged)]
  expect(await findLocalModel('acme/mini', [partial, whole])).toEqual({ root: whole, dtype: 'q8', dimensions: 16 })
  expect(await findLocalModel('acme/mini', [partial])).toBeNull()
  expect(await findLocalModel('acme/mini', [whole], 'fp32')).toBeNull()
})

test('a name that climbs out of the models folder is refused', async () => {
  for (const name of ['../secrets', 'a/../../b', '/etc', 'a/b/c', '']) {
    await expect(findLocalModel(name, ['/tmp'])).rejects.toMatchObject({ code: 'VALIDATION_ERROR' })
  }
})

test('a configuration without a number of dimensions is an error', async () => {
  const folder = await folderWith({ ...damaged, 'acme/mini/config.json': '[' })
  await expect(findLocalModel('acme/mini', [folder])).rejects.toMatchObject({ field: 'hidden_size' })
})

test('downloads are looked for where transformers.js was told to keep them', () => {
  expect(transformersCacheDir({ TRANSFORMERS_CACHE: '/var/models' })).toBe('/var/models')
  expect(transformersCacheDir({})).toMatch(/\.cache\/transformers$/)
})
