import { waitFor } from '@heddle/test-support'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openPipeline, type Pipeline } from '../support.js'
import { callRaw, type ProxiedServer, storingIn, withProxy } from './proxy-support.js'

let pipeline: Pipeline

beforeAll(async () => {
  // One server of queues: a compaction is made of what the store has.
  pipeline = await openPipeline('postgres')
  await pipeline.start()
})
afterAll(() => pipeline.close())

type Input = OpenAI.Responses.ResponseInputItem[]

/** A question, and steps that each read a page. */
function history(steps: number): Input {
  const items: Input = [{ role: 'user', content: 'Read the pages, and find the code word.' }]
  for (let step = 0; step < steps; step++) {
    const output = `page ${step}\n${'some words\n'.repeat(300)}`
    items.push({ type: 'function_call', call_id: `call_${step}`, name: 'read_page', arguments: `{"page":${step}}` })
    items.push({ type: 'function_call_output', call_id: `call_${step}`, output })
  }
  return items
}

async function compacting(project: string, work: (served: ProxiedServer, openai: OpenAI) => Promise<void>) {
  const address = { url: '', protocol: 'openai' as const }
  await withProxy(
    async (outer) => {
      const upstreams = { local: { ...address, url: `${outer.upstream.url}/v1`, compaction: 'heddle' as const } }
      await withProxy(
        async (served) => {
          const baseURL = `${served.gateway.url}/local/v1`
          const openai = new OpenAI({ apiKey: 'none', baseURL, maxRetries: 0 })
          await work({ ...served, upstream: outer.upstream }, openai)
        },
        { proxy: { upstreams, backend: storingIn(pipeline) }, gateway: { project } },
      )
    },
    { proxy: { backend: storingIn(pipeline) }, gateway: { project } },
  )
}

const sentBy = ({ upstream }: ProxiedServer) =>
  upstream.requests.map(({ body }) => JSON.parse(body.toString()) as { input: { type?: string; content?: unknown }[] })
const threads = async (project: string) => (await pipeline.clientOf(project).threads.list({})).items

describe('POST /responses/compact for an upstream without it', () => {
  test('is answered in the form of the provider, and its item is the history again in later requests', async () => {
    await compacting('compactions', async (served, openai) => {
      await openai.responses.create({ model: 'a-model', input: history(12) })
      const compacted = await openai.responses.compact({ model: 'a-model', input: history(12) })
      expect(served.upstream.requests).toHaveLength(1)
      expect(compacted.object).toBe('response.compaction')
      expect(compacted.output.map(({ type }) => type)).toEqual(['message', 'compaction'])
      expect(compacted.usage.output_tokens).toBeLessThan(compacted.usage.input_tokens)

      const next: Input = [...(compacted.output as Input), { role: 'user', content: 'And now?' }]
      await openai.responses.create({ model: 'a-model', input: next })
      const more: Input = [...next, { role: 'assistant', content: 'More.' }, { role: 'user', content: 'And then?' }]
      await openai.responses.create({ model: 'a-model', input: more })
      const [, first, second] = sentBy(served)
      expect(first?.input.map(({ type = 'message' }) => type)).toEqual(['message', 'message', 'message'])
      expect(JSON.stringify(first?.input[1]?.content)).toContain('compacted by Heddle')
      expect(JSON.stringify(first?.input[1]?.content)).toContain('page 11')
      // The same bytes each time, which the provider finds in its cache.
      expect(second?.input.slice(0, 3)).toEqual(first?.input)

      // The item names the thread; its text is stored already, as the messages that it was made from.
      await waitFor(async () => (await threads('compactions')).some(({ headSeq }) => headSeq === 28))
      expect(await threads('compactions')).toHaveLength(1)
    })
  })

  test('goes to an upstream that has it', async () => {
    const backend = storingIn(pipeline)
    await withProxy(
      async ({ openAiUrl, upstream }) => {
        const body = JSON.stringify({ model: 'a-model', input: history(1) })
        await callRaw(`${openAiUrl}/responses/compact`, { headers: ['content-type', 'application/json'], body })
        expect(upstream.requests.map(({ url, body: sent }) => [url, sent.toString()])).toEqual([
          ['/v1/responses/compact', body],
        ])
      },
      { proxy: { backend }, gateway: { project: 'compactions-passed' } },
    )
  })

  test('refuses what is not in its input, in the form of the provider', async () => {
    await compacting('compactions-refused', async (_, openai) => {
      const refused = openai.responses.compact({ model: 'a-model', previous_response_id: 'resp_1', input: history(1) })
      await expect(refused).rejects.toMatchObject({ status: 400, code: 'not_in_input' })
      await expect(openai.responses.compact({ model: 'a-model', input: 'a text' })).rejects.toMatchObject({
        status: 400,
        code: 'no_input',
      })
    })
  })

  test('fails as an error that may be tried again while the store is away', async () => {
    const fails = () => Promise.reject(new Error('away'))
    const backend = storingIn(pipeline, (client) => ({ ...client, messages: { ...client.messages, append: fails } }))
    await withProxy(
      async ({ gateway }) => {
        const openai = new OpenAI({ apiKey: 'none', baseURL: `${gateway.url}/local/v1`, maxRetries: 0 })
        const failed = openai.responses.compact({ model: 'a-model', input: history(2) })
        await expect(failed).rejects.toMatchObject({ status: 503, code: 'compaction_failed' })
      },
      {
        proxy: {
          backend,
          upstreams: { local: { url: 'http://127.0.0.1:9/v1', protocol: 'openai', compaction: 'heddle' } },
        },
        gateway: { project: 'compactions-away' },
      },
    )
  })
})
