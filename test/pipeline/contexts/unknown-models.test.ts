import { createLogger } from '@heddle/runtime'
import { listModelsInUse } from '@heddle/store'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPipeline, type Pipeline } from '../support.js'

let pipeline: Pipeline

beforeAll(async () => {
  pipeline = await openPipeline()
})
afterAll(() => pipeline?.close())

test('a worker warns once of a model whose window is assumed, and the models in use are listed', async () => {
  const lines: { model?: string; tokens?: number }[] = []
  const write = (line: string) => lines.push(JSON.parse(line) as object)
  await pipeline.start(['ingest', 'assemble'], {
    log: createLogger({ level: 'warn', name: 'test', destination: { write } }),
  })
  const { client, store, projectId } = pipeline
  const messages = [{ role: 'user' as const, content: 'hi' }]
  await client.agents.put('acme', { settings: { model: 'acme-2', unknownModelWindow: 90_000 } })
  for (const thread of ['one', 'two']) {
    await client.messages.append({ agent: 'acme', thread, messages, ack: 'stored' })
    const { budget, receipt } = await client.contexts.build({ thread })
    expect(budget).toBe(90_000 - 4_096)
    expect(receipt.notes.join()).toContain('90000 tokens are assumed (unknownModelWindow)')
  }
  await client.threads.put('two', { agent: 'acme', settings: { model: 'gpt-4o' } })
  await client.contexts.build({ thread: 'two' })
  await client.contexts.build({ thread: 'one', model: 'other-1' })
  expect(lines.flatMap(({ model, tokens }) => (model === undefined ? [] : [[model, tokens]]))).toEqual([
    ['acme-2', 90_000],
    ['other-1', 90_000],
  ])
  expect(await store.inProject(projectId, listModelsInUse)).toEqual([
    { model: 'acme-2', agents: 1, threads: 0, contexts: 0 },
    { model: 'gpt-4o', agents: 0, threads: 1, contexts: 0 },
    { model: 'other-1', agents: 0, threads: 0, contexts: 1 },
  ])
})
