import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { chooseEmbedder, type EmbedderEnvironment, type EmbedderSettings } from './choose-embedder.js'
import { createEmbedders } from './embedders.js'
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
  return { lines, log: { info: record('info'), warn: record('warn') } as unknown as EmbedderEnvironment['log'] }
}

const unset: EmbedderSettings = {
  kind: 'auto',
  model: null,
  modelsDir: null,
  baseUrl: null,
  dimensions: null,
  threads: null,
}

async function choose(settings: Partial<EmbedderSettings>, env: Record<string, string> = {}) {
  const { lines, log } = recordingLog()
  const cache = await emptyFolder()
  const chosen = await chooseEmbedder({ ...unset, ...settings }, { env: { TRANSFORMERS_CACHE: cache, ...env }, log })
  onTestFinished(() => chosen.embedder.close())
  return { ...chosen, lines }
}

test('without the files of a model, auto uses the hashing embedder with a reason and a warning', async () => {
  const { embedder, reason, lines } = await choose({ modelsDir: await emptyFolder() })
  expect(embedder.model).toBe('heddle-hashing-384-v1')
  expect(reason).toContain('Xenova/all-MiniLM-L6-v2 was not found')
  expect(lines).toMatchObject([{ level: 'warn', facts: { embedder: 'heddle-hashing-384-v1', reason } }])
})

test('with damaged files of a model, auto uses the hashing embedder, too', async () => {
  const chosen = await choose({ model: 'acme/mini', modelsDir: await folderWith(damaged) })
  expect(chosen.embedder.model).toBe('heddle-hashing-384-v1')
  expect(chosen.reason).toContain('could not be loaded')
})

test('auto sends no texts to a service only because its key is set', async () => {
  const chosen = await choose({}, { OPENAI_API_KEY: 'a key' })
  expect(chosen.embedder.model).toBe('heddle-hashing-384-v1')
})

for (const [name, settings, code] of [
  ['local without the files of its model', { kind: 'local' }, 'NOT_FOUND'],
  ['local with damaged files', { kind: 'local', model: 'acme/mini' }, 'VALIDATION_ERROR'],
  ['openai without a key', { kind: 'openai' }, 'UNAUTHORIZED'],
] as const) {
  test(`${name} is reported, and every call fails with the reason`, async () => {
    const { embedder, fault, lines } = await choose({ modelsDir: await folderWith(damaged), ...settings })
    expect(fault).toMatchObject({ code, disposition: 'give-up', hint: expect.any(String) })
    expect(lines).toMatchObject([{ level: 'warn' }])
    await expect(embedder.embed(['a'])).rejects.toBe(fault)
  })
}

test('a configured hashing embedder is reported as such', async () => {
  const { embedder, lines } = await choose({ kind: 'hashing' })
  expect(embedder.dimensions).toBe(384)
  expect(lines).toMatchObject([{ level: 'info', facts: { embedder: 'heddle-hashing-384-v1' } }])
})

test('a process opens an embedder once, and others for existing vectors of their models', async () => {
  const { lines, log } = recordingLog()
  const cache = await emptyFolder()
  const embedders = createEmbedders({ ...unset, kind: 'openai' }, { env: { TRANSFORMERS_CACHE: cache }, log })
  onTestFinished(() => embedders.close())
  expect((await embedders.chosen()).embedder).toBe((await embedders.chosen()).embedder)
  expect(lines.length).toBe(1)
  const hashing = await embedders.of('heddle-hashing-384-v1')
  expect(hashing?.model).toBe('heddle-hashing-384-v1')
  expect(await embedders.of('heddle-hashing-384-v1')).toBe(hashing)
  expect(await embedders.of('acme/none')).toBeNull()
  expect(await embedders.of('text-embedding-3-small')).toBeNull()
})

test('a damaged model is a permanent error at the first call', async () => {
  const folder = await folderWith(damaged)
  const embedder = await createLocalEmbedder({ model: 'acme/mini', modelsDir: folder, cacheDir: folder })
  onTestFinished(() => embedder.close())
  await expect(embedder.embed(['a'])).rejects.toMatchObject({ disposition: 'give-up', field: 'embedder.model' })
})

test('a model is loaded from the first folder with all of its files, quantized weights first', async () => {
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

test('downloads are searched in the configured cache folder of transformers.js', () => {
  expect(transformersCacheDir({ TRANSFORMERS_CACHE: '/var/models' })).toBe('/var/models')
  expect(transformersCacheDir({})).toMatch(/\.cache\/transformers$/)
})
