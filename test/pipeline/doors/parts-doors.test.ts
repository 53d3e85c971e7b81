import { readFile, writeFile } from 'node:fs/promises'
import { pdfFile, pngFile, wavFile } from '@heddle/test-support/samples/media-files'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openDatabaseHome } from '../cli/cli-support.js'
import { openPipeline, type Pipeline } from '../support.js'
import { type Served, serve } from './http-support.js'

const image = pngFile(640, 480, 'at the door')
const pdf = pdfFile(1)
const sound = wavFile(0.1)
const base64 = (bytes: Buffer) => bytes.toString('base64')
const message = {
  role: 'user',
  content: 'See.',
  parts: [
    { type: 'image', mediaType: 'image/png', data: base64(image), offset: 0 },
    { type: 'document', mediaType: 'application/pdf', data: base64(pdf), name: 'report.pdf' },
    { type: 'audio', mediaType: 'audio/wav', data: base64(sound) },
    { type: 'image', url: 'https://example.com/a.png' },
  ],
}

describe('through the interfaces of a gateway', () => {
  let pipeline: Pipeline
  let http: Served
  let reference: string

  beforeAll(async () => {
    pipeline = await openPipeline()
    await pipeline.start()
    http = await serve(pipeline)
    const body = { agent: 'viewer', messages: [message] }
    expect(await http.ask('POST', '/v1/threads/door/messages', { body })).toMatchObject({ status: 200 })
    const { body: page } = await http.ask('GET', '/v1/threads/door/messages')
    reference = page.items[0].reference
    expect(page.items[0].parts[0]).toMatchObject({ width: 640, height: 480, reference: `${reference}:part-1` })
  })
  afterAll(async () => {
    await http?.gateway.close()
    await pipeline?.close()
  })

  test('HTTP returns a part as base64 with its media type, and a context with all of its parts', async () => {
    const { body } = await http.ask('POST', '/v1/recall', { body: { ref: `${reference}:part-1`, thread: 'door' } })
    expect(body.part).toMatchObject({ mediaType: 'image/png', data: base64(image) })
    const context = await http.ask('POST', '/v1/threads/door/contexts', { body: { format: 'anthropic' } })
    expect(context.body.messages[0].content.map(({ type }: { type: string }) => type)).toEqual([
      'image',
      'text',
      'document',
      'text',
      'image',
    ])
    expect(context.body.messages[0].content[0].source.data).toBe(base64(image))
    const missing = await http.ask('POST', '/v1/recall', { body: { ref: `${reference}:part-5`, thread: 'door' } })
    expect(missing).toMatchObject({ status: 404, body: { hint: expect.stringContaining('the message has 4 parts') } })
  })

  test('MCP returns images, documents and sounds to a model, and never their bytes as text', async () => {
    const client = new Client({ name: 'test', version: '1' })
    await client.connect(new StreamableHTTPClientTransport(new URL(`${http.url}/mcp`)) as never)
    const recall = async (number: number) =>
      await client.callTool({ name: 'recall', arguments: { ref: `${reference}:part-${number}`, thread: 'door' } })
    const [shown, read, heard, named] = await Promise.all([1, 2, 3, 4].map(recall))
    expect(shown?.content).toMatchObject([
      { type: 'text' },
      { type: 'image', data: base64(image), mimeType: 'image/png' },
    ])
    expect(read?.content).toMatchObject([{ type: 'text' }, { type: 'resource', resource: { blob: base64(pdf) } }])
    expect(heard?.content).toMatchObject([{ type: 'text' }, { type: 'audio', data: base64(sound) }])
    expect(named).toMatchObject({ structuredContent: { part: { url: 'https://example.com/a.png' } } })
    expect(JSON.stringify(shown?.structuredContent)).not.toContain(base64(image))
    const context = await client.callTool({ name: 'build_context', arguments: { thread: 'door' } })
    expect(JSON.stringify(context)).not.toContain(base64(image).slice(0, 100))
    expect(JSON.stringify(context)).toContain(`${reference}:part-1`)
    await client.close()
  })
})

test('the command line writes a part into a file, byte for byte', async () => {
  const home = await openDatabaseHome()
  await writeFile(home.path('shown.jsonl'), `${JSON.stringify(message)}\n`)
  await home.heddle('import', 'shown.jsonl', '--agent', 'viewer', '--json')
  const { document } = await home.heddle('threads', 'history', 'shown', '--json')
  const [part, , , address] = document.items[0].parts
  const said = await home.heddle('recall', part.reference, '--thread', 'shown')
  expect(said.stdout).toMatch(/^image image\/png 640x480, /)
  expect(said.stderr).toContain('--out')
  const written = await home.heddle('recall', part.reference, '--thread', 'shown', '--out', 'back.png', '--json')
  expect(written.document).toMatchObject({ bytes: image.length, mediaType: 'image/png' })
  expect((await readFile(home.path('back.png'))).equals(image)).toBe(true)
  const refused = await home.heddle('recall', address.reference, '--thread', 'shown', '--out', 'a.png', '--json')
  expect(refused).toMatchObject({ code: 1, error: { code: 'VALIDATION_ERROR', field: 'out' } })
  const table = await home.heddle('threads', 'history', 'shown')
  expect(table.stdout).toContain('[image image/png 640x480')
})
