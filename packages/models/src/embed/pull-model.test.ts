import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { listLocalModels } from './local-models.js'
import { pullModel } from './pull-model.js'

const files: Readonly<Record<string, string>> = {
  'config.json': '{"hidden_size":16}',
  'tokenizer.json': '{}',
  'tokenizer_config.json': '{}',
  'onnx/model_quantized.onnx': 'w'.repeat(200_000),
}

type Answer = (response: ServerResponse, body: string) => void

/** A hub that has one model, with other answers for some of its files; and a folder to pull into. */
async function hub(answers: Record<string, Answer> = {}) {
  const asked: string[] = []
  const server = createServer((request, response) => {
    const path = (request.url ?? '').replace('/acme/mini/resolve/main/', '')
    asked.push(path)
    const body = files[path]
    const answer = answers[path]
    if (answer !== undefined) return answer(response, body ?? '')
    if (body === undefined) return response.writeHead(404).end()
    response.writeHead(200, { 'content-length': body.length }).end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const folder = await mkdtemp(join(tmpdir(), 'heddle-pull-'))
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
    await rm(folder, { recursive: true })
  })
  const env = { HF_ENDPOINT: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` }
  return { asked, folder, env, pull: (more = {}) => pullModel({ model: 'acme/mini', folder, env, ...more }) }
}

test('the files of a model are downloaded with progress, and are found as a model', async () => {
  const { folder, pull } = await hub()
  const progress: number[][] = []
  const pulled = await pull({ onProgress: (bytes: number, total: number) => progress.push([bytes, total]) })
  expect(pulled.map(({ path, bytes }) => [path, bytes])).toEqual(
    Object.entries(files).map(([path, body]) => [join(folder, 'acme/mini', path), body.length]),
  )
  const all = Object.values(files).reduce((sum, body) => sum + body.length, 0)
  expect(progress.at(-1)).toEqual([all, all])
  expect(await readFile(join(folder, 'acme/mini/config.json'), 'utf8')).toBe(files['config.json'])
  expect(await listLocalModels([folder])).toMatchObject([
    { model: 'acme/mini', dimensions: 16, dtype: 'q8', bytes: 200_000 },
  ])
})

test('existing files are not downloaded again', async () => {
  const { asked, pull } = await hub()
  await pull()
  asked.length = 0
  expect((await pull()).every(({ kept }) => kept)).toBe(true)
  expect(asked).toEqual(['special_tokens_map.json'])
})

test('a model that the hub does not know is a permanent error', async () => {
  const { pull } = await hub()
  await expect(pull({ model: 'acme/none' })).rejects.toMatchObject({ code: 'NOT_FOUND', disposition: 'give-up' })
})

for (const [name, answer] of [
  [
    'breaks off',
    (response, body) => {
      response.writeHead(200, { 'content-length': body.length })
      response.write(body.slice(0, 1_000), () => response.destroy())
    },
  ],
  ['comes from a failing server', (response) => void response.writeHead(503).end()],
] as const satisfies readonly (readonly [string, Answer])[]) {
  test(`a file that ${name} leaves nothing in its place`, async () => {
    const { folder, pull } = await hub({ 'onnx/model_quantized.onnx': answer })
    await expect(pull()).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE', hint: expect.any(String) })
    expect(await readdir(join(folder, 'acme/mini/onnx')).catch(() => [])).toEqual([])
    expect(await listLocalModels([folder])).toEqual([])
  })
}

test('without a network the error has a hint for an offline machine', async () => {
  const { folder } = await hub()
  const env = { HF_ENDPOINT: 'http://127.0.0.1:9' }
  await expect(pullModel({ model: 'acme/mini', folder, env })).rejects.toMatchObject({
    code: 'SERVICE_UNAVAILABLE',
    hint: expect.stringMatching(/HF_ENDPOINT.*HEDDLE_MODELS.*hashing/s),
  })
})

test('a connection without data is closed after a while', async () => {
  const { pull } = await hub({ 'tokenizer.json': () => {} })
  const deadlines = new Set<() => void>()
  const after = (_ms: number, callback: () => void) => {
    deadlines.add(callback)
    return () => deadlines.delete(callback)
  }
  const failed = expect(pull({ clock: { after } })).rejects.toThrow(/no data for 30000 ms/)
  let isDone = false
  void failed.finally(() => {
    isDone = true
  })
  while (!isDone) {
    for (const miss of deadlines) miss()
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  await failed
})

for (const variable of ['HF_HUB_OFFLINE', 'TRANSFORMERS_OFFLINE']) {
  test(`with ${variable} no request is sent`, async () => {
    const { asked, env, pull } = await hub()
    await expect(pull({ env: { ...env, [variable]: '1' } })).rejects.toMatchObject({
      code: 'FORBIDDEN',
      field: variable,
      disposition: 'give-up',
    })
    expect(asked).toEqual([])
  })
}

test('an abort ends the download', async () => {
  const abort = new AbortController()
  const { pull } = await hub({ 'tokenizer.json': () => abort.abort(new Error('stopped')) })
  await expect(pull({ signal: abort.signal })).rejects.toThrow('stopped')
})
