import { newId } from '@heddle/client/calls'
import { createClient } from '@heddle/client/http'
import { describe, expect, test } from 'vitest'
import type { Pipeline } from '../support.js'
import { type Served, servePipeline } from './http-support.js'
import { transports } from './transports.js'

let pipeline: Pipeline
let http: Served

servePipeline((opened) => {
  ;({ pipeline, http } = opened)
})

const user = (content: string) => ({ role: 'user' as const, content })

describe.each([
  ...transports,
  { transport: 'the queue, with direct appends', open: async () => pipeline.directClient },
])('a request with append over $transport', ({ transport, open }) => {
  const thread = `turn over ${transport}`
  const connect = () => open({ pipeline, http }, 'turns')

  test('stores the messages and shows them in the context', async () => {
    const client = await connect()
    const request = { agent: 'coder', thread, budget: 4_000, format: 'openai-chat' } as const
    const first = await client.contexts.build({ ...request, append: [user('one')] })
    expect(first).toMatchObject({ appended: { stored: 1, repeated: 0 }, messages: [{ role: 'user', content: 'one' }] })
    const append = [{ role: 'assistant' as const, content: 'two' }, user('three')]
    const second = await client.contexts.build({ ...request, append })
    expect(second.appended).toMatchObject({ stored: 2, repeated: 0 })
    expect(second.messages.map(({ content }) => content)).toEqual(['one', 'two', 'three'])
    const third = await client.contexts.build({
      ...request,
      append: [
        { role: 'assistant', content: 'four' },
        { role: 'user', content: 'five' },
      ],
      appendFormat: 'openai-chat',
    })
    expect(third.messages.map(({ content }) => content)).toEqual(['one', 'two', 'three', 'four', 'five'])
    expect(await client.contexts.build(request)).not.toHaveProperty('appended')
  })

  test('repeated with its key stores the messages once and gets the same context', async () => {
    const client = await connect()
    const request = { agent: 'coder', thread: `${thread}, keyed`, budget: 4_000 }
    const append = [user('once')]
    const first = await client.contexts.build({ ...request, append }, { idempotencyKey: 'turn-1' })
    await client.messages.append({ agent: 'coder', thread: request.thread, messages: [user('later')] })
    const again = await client.contexts.build({ ...request, append }, { idempotencyKey: 'turn-1' })
    expect(again).toMatchObject({ id: first.id, messages: first.messages, appended: { stored: 0, repeated: 1 } })
    const withUndefined = { ...request, append, model: undefined }
    expect(await client.contexts.build(withUndefined, { idempotencyKey: 'turn-1' })).toMatchObject({ id: first.id })
    const other = client.contexts.build({ ...request, append, budget: 5_000 }, { idempotencyKey: 'turn-1' })
    await expect(other).rejects.toMatchObject({ code: 'CONFLICT', field: 'idempotencyKey' })
    const changed = client.contexts.build({ ...request, append: [user('other')] }, { idempotencyKey: 'turn-1' })
    await expect(changed).rejects.toMatchObject({ code: 'CONFLICT', field: 'append.0.id' })
  })

  test('is refused with the name of its field, and nothing is stored', async () => {
    const client = await connect()
    const named = `${thread}, refused`
    const request = { agent: 'coder', thread: named }
    const refused = async (given: object, field: string) =>
      await expect(client.contexts.build({ ...request, ...given })).rejects.toMatchObject({
        code: 'VALIDATION_ERROR',
        field: expect.stringContaining(field),
      })
    await refused({ append: [user('fine'), { role: 'nobody', content: 'x' }] }, 'append.1.role')
    await refused({ append: [user('fine')], budget: 0 }, 'budget')
    await refused({ append: [user('fine')], agent: undefined }, 'agent')
    await refused({ append: [user('fine')], at: '2026-01-01T00:00:00Z' }, 'at')
    await refused({ appendFormat: 'openai-chat' }, 'appendFormat')
    await expect(client.threads.get(named)).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  test('says that its messages are stored if the context cannot be built', async () => {
    const client = await connect()
    const named = `${thread}, too small`
    const building = client.contexts.build({
      agent: 'coder',
      thread: named,
      budget: 1,
      append: [user('kept '.repeat(50))],
    })
    await expect(building).rejects.toMatchObject({
      code: 'BUDGET_TOO_SMALL',
      facts: { appended: { stored: 1, repeated: 0 } },
    })
    expect((await client.messages.list({ thread: named })).items).toHaveLength(1)
  })

  test('without waiting is stored when it is answered, and built later', async () => {
    const client = await connect()
    const named = `${thread}, ordered`
    const id = await client.contexts.order({
      agent: 'coder',
      thread: named,
      append: [{ ...user('soon'), id: newId() }],
    })
    expect((await client.messages.list({ thread: named })).items).toHaveLength(1)
    const built = async () => (await client.contexts.find(id)).status
    await expect.poll(built, { timeout: 10_000 }).toBe('built')
    const keyed = (budget: number) =>
      client.contexts.order({ agent: 'coder', thread: named, budget }, { idempotencyKey: 'order-1' })
    expect(await keyed(4_000)).toBe(await keyed(4_000))
    await expect(keyed(5_000)).rejects.toMatchObject({ code: 'CONFLICT', field: 'idempotencyKey' })
  })
})

test('a key that may only read appends nothing with a request for a context', async () => {
  const owner = pipeline.clientOf('turn-roles')
  await owner.messages.append({ agent: 'coder', thread: 'run', messages: [user('one')] })
  const { key } = await owner.keys.create({ name: 'reader', role: 'read' })
  const reader = createClient({ url: http.url, key })
  const request = { agent: 'coder', thread: 'run' }
  await expect(reader.contexts.build({ ...request, append: [user('two')] })).rejects.toMatchObject({
    code: 'FORBIDDEN',
  })
  expect((await reader.contexts.build(request)).receipt.eligible).toBe(1)
})
