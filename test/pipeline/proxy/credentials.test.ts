import { Writable } from 'node:stream'
import type { Client } from '@heddle/client/interface'
import { createLogger } from '@heddle/runtime'
import { waitFor } from '@heddle/test-support'
import { expect, test } from 'vitest'
import { searchDatabase } from '../canaries.js'
import { openPipeline } from '../support.js'
import { callRaw, storingIn, withProxy } from './proxy-support.js'

/** Secrets of a caller, by the place in which it sends them. */
const HEADERS = ['Authorization', 'Bearer canary-bearer', 'X-Api-Key', 'canary-api-key', 'Cookie', 'a=canary-cookie']
const PATH = '/v1/messages?key=canary-query'
const FIELDS = { api_key: 'canary-body-key', metadata: { user_id: 'canary-user', token: 'canary-token' } }

test('credentials in headers, paths and bodies reach the upstream, and no row, log, metric, error or answer', async () => {
  const lines: string[] = []
  const destination = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk))
      done()
    },
  })
  const log = createLogger({ level: 'trace', name: 'test', destination: destination as never })
  // One server of queues: its database is searched for what was stored and queued.
  const pipeline = await openPipeline('postgres')
  try {
    await pipeline.start(['ingest'])
    const state = { fails: false }
    const failing = { append: () => Promise.reject(new Error('away')) } as unknown as Client['messages']
    const backend = storingIn(pipeline, (client) => (state.fails ? { ...client, messages: failing } : client))
    await withProxy(
      async ({ upstream, gateway, anthropicUrl, openAiUrl }) => {
        const base = anthropicUrl.replace('/v1', '')
        const call = (body: object) => callRaw(`${base}${PATH}`, { headers: HEADERS, body: JSON.stringify(body) })
        const message = { role: 'user', content: 'canary of the conversation, which is stored' }
        const answers = [await call({ ...FIELDS, model: 'm', messages: [message] })]
        const client = pipeline.clientOf('credentials')
        await waitFor(async () => (await client.threads.list()).items.length > 0)
        state.fails = true
        answers.push(await call({ ...FIELDS, model: 'm', messages: [message, { role: 'user', content: 'more' }] }))
        answers.push(await call({ ...FIELDS, messages: 7 }))
        answers.push(await callRaw(`${openAiUrl}/models?key=canary-query`, { method: 'GET', headers: HEADERS }))
        upstream.cut()
        await upstream.close()
        answers.push(await call({ ...FIELDS, model: 'm', messages: [message] }))
        expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 502])
        expect(upstream.requests[0]?.rawHeaders).toEqual(
          expect.arrayContaining(['canary-api-key', 'Bearer canary-bearer']),
        )

        await waitFor(() => lines.some((line) => line.includes('storing a conversation failed')))
        const metrics = (await callRaw(`${gateway.url}/metrics`, { method: 'GET' })).body.toString()
        const shown = [...lines, metrics, ...answers.map(({ rawHeaders, body }) => `${rawHeaders.join()} ${body}`)]
        expect(shown.filter((text) => text.includes('canary'))).toEqual([])
        const places = await searchDatabase(pipeline.databaseUrl, ['canary-', 'canary of'])
        expect([...places.keys()]).toEqual(['canary of'])
      },
      { proxy: { backend, log }, gateway: { project: 'credentials', log } },
    )
  } finally {
    await pipeline.close()
  }
})
