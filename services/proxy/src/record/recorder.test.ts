import type { MessageInput } from '@heddle/contracts'
import { type ProviderRequest, RequestReader } from '@heddle/core'
import { createLogger, systemClock } from '@heddle/runtime'
import { expect, test } from 'vitest'
import type { ProxyBackend } from '../backend.js'
import { Conversations } from '../conversation/conversations.js'
import type { ProxyMetrics } from '../metrics.js'
import { type Recorded, Recorder } from './recorder.js'

const reader = new RequestReader()
const metrics = { recorded() {}, messages() {} } as unknown as ProxyMetrics
const log = createLogger({ name: 'test', level: 'silent' })

function requestOf(messages: readonly object[]): { request: ProviderRequest; body: Buffer } {
  const body = Buffer.from(JSON.stringify({ model: 'm', messages }))
  return { request: reader.read('anthropic', body) as ProviderRequest, body }
}

const question = { role: 'user', content: 'Where is Oslo?' }
const reply = { role: 'assistant', content: [{ type: 'text', text: 'In Norway.' }] }

/** The messages that are stored, in their order, if the first of two replies is read as `reading` says. */
async function stored(reading: (recorded: Recorded) => Promise<Recorded>): Promise<MessageInput[]> {
  const appended: MessageInput[] = []
  const messages = { append: async (given: { messages: MessageInput[] }) => void appended.push(...given.messages) }
  const backend = { clientOf: () => ({ messages }) } as unknown as ProxyBackend
  const recorder = new Recorder({ metrics, log, clock: systemClock, backend: () => backend })
  const first = requestOf([question])
  const second = requestOf([question, reply, { role: 'user', content: 'And Bergen?' }])
  const identified = { project: 'p', agent: 'a', thread: 't', session: null, request: first.request }
  const conversation = new Conversations(() => 't').open(identified, 't')
  const usage = { input_tokens: 7, output_tokens: 3 }
  const of = (exchange: typeof first, said: object) =>
    ({ ...exchange, conversation, row: { id: 'r' }, reply: said }) as unknown as Recorded
  const recording = [
    recorder.record(conversation, reading(of(first, { ...reply, model: 'm', usage }))),
    recorder.record(conversation, Promise.resolve(of(second, { ...reply, usage }))),
  ]
  await Promise.allSettled(recording)
  return appended
}

test('a reply that is read slowly is stored before the request that repeats it, with its usage', async () => {
  const messages = await stored(async (recorded) => {
    for (let turn = 0; turn < 50; turn++) await null
    return recorded
  })
  expect(messages.map(({ content }) => content)).toEqual(['Where is Oslo?', 'In Norway.', 'And Bergen?', 'In Norway.'])
  expect(messages[1]).toMatchObject({ model: 'm', usage: { outputTokens: 3 } })
})

test('an exchange that cannot be read does not stop those after it', async () => {
  const messages = await stored(() => Promise.reject(new Error('unreadable')))
  expect(messages.map(({ content }) => content)).toEqual(['Where is Oslo?', 'In Norway.', 'And Bergen?', 'In Norway.'])
  expect(messages[1]?.usage).toBeUndefined()
})
