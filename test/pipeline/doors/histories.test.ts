import type { RemoteClient } from '@heddle/client/http'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Pipeline } from '../support.js'
import { type Served, servePipeline } from './http-support.js'
import { transports } from './transports.js'

let pipeline: Pipeline
let http: Served

servePipeline((opened) => {
  ;({ pipeline, http } = opened)
})

const at = (minute: number) => new Date(Date.UTC(2026, 1, 12, 14, minute)).toISOString()

describe.each(transports)('over $transport', ({ open }) => {
  let client: RemoteClient
  beforeAll(async () => {
    client = await open({ pipeline, http }, 'histories')
    const append = async (thread: string, agent: string, minutes: readonly number[]) => {
      const messages = minutes.map((minute) => ({
        role: 'user' as const,
        content: `${thread} ${minute}`,
        sentAt: at(minute),
        sourceId: `chat-${minute}`,
      }))
      await client.messages.append({ agent, thread, messages, newAgentRollingWindow: null })
    }
    await append('one', 'bot', [1, 4, 5])
    await append('two', 'bot', [2, 3, 6])
    await append('other', 'neighbour', [3])
    await client.agents.clear('bot')
  })

  test('the history of an agent has its threads merged by time, page by page in both directions', async () => {
    const contents: string[] = []
    let cursor: string | undefined
    do {
      const page = await client.messages.ofAgent({ agent: 'bot', limit: 2, cursor })
      expect(page.items.length).toBeLessThanOrEqual(2)
      contents.push(...page.items.map(({ content }) => content))
      cursor = page.nextCursor ?? undefined
    } while (cursor !== undefined)
    expect(contents).toEqual(['one 1', 'two 2', 'two 3', 'one 4', 'one 5', 'two 6'])
    const newest = await client.messages.ofAgent({ agent: 'bot', order: 'desc', limit: 2, since: at(2), until: at(6) })
    expect(newest.items).toMatchObject([
      { thread: 'one', agent: 'bot', content: 'one 5', inWindow: false },
      { thread: 'one', content: 'one 4' },
    ])
    const next = { agent: 'bot', order: 'desc', since: at(2), until: at(6), cursor: newest.nextCursor ?? '' } as const
    expect((await client.messages.ofAgent(next)).items.map(({ content }) => content)).toEqual(['two 3', 'two 2'])
  })

  test('refuses an unknown agent and a cursor of another list by their fields', async () => {
    await expect(client.messages.ofAgent({ agent: 'nobody' })).rejects.toMatchObject({
      code: 'NOT_FOUND',
      field: 'agent',
    })
    const { nextCursor } = await client.messages.ofAgent({ agent: 'bot', limit: 1 })
    const elsewhere = client.messages.ofAgent({ agent: 'neighbour', cursor: nextCursor ?? '' })
    await expect(elsewhere).rejects.toMatchObject({ code: 'VALIDATION_ERROR', field: 'cursor' })
  })

  test('a message is found by its id at the source, with the thread that a reply belongs to', async () => {
    expect((await client.messages.find({ sourceId: 'chat-5' })).items).toMatchObject([
      { thread: 'one', agent: 'bot', content: 'one 5', sourceId: 'chat-5' },
    ])
    const both = await client.messages.find({ sourceId: 'chat-3', limit: 1 })
    const rest = await client.messages.find({ sourceId: 'chat-3', limit: 1, cursor: both.nextCursor ?? '' })
    expect([...both.items, ...rest.items].map(({ thread }) => thread).sort()).toEqual(['other', 'two'])
    expect(rest.nextCursor).toBeNull()
    expect((await client.messages.find({ sourceId: 'chat-3', agent: 'bot' })).items).toMatchObject([{ thread: 'two' }])
    expect((await client.messages.find({ sourceId: 'chat-3', thread: 'one' })).items).toEqual([])
    expect((await client.messages.find({ sourceId: 'chat' })).items).toEqual([])
    const unknown = client.messages.find({ sourceId: 'chat-3', thread: 'nowhere' })
    await expect(unknown).rejects.toMatchObject({ code: 'NOT_FOUND', field: 'thread' })
  })
})
