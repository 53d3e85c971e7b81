import type { Client } from '@heddle/client/interface'
import { limits } from '@heddle/contracts'
import { waitFor } from '@heddle/test-support'
import { ManualClock } from '@heddle/test-support/manual-clock'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openPipeline, type Pipeline } from '../support.js'
import { callRaw, type ProxiedServer, storingIn, withProxy } from './proxy-support.js'
import { conversation, type Message, page } from './read-pages.js'

let pipeline: Pipeline

beforeAll(async () => {
  pipeline = await openPipeline()
  await pipeline.start()
})
afterAll(() => pipeline.close())

const NEVER = new Promise<never>(() => undefined)
/** The store answers within this time on any machine that tests run on. */
const LATE_MS = 20_000

async function ask({ anthropicUrl }: ProxiedServer, messages: readonly Message[], mode = 'stub', thread = 'pages') {
  return await callRaw(`${anthropicUrl}/v1/messages`, {
    headers: ['x-heddle-mode', mode, 'x-heddle-thread', thread, 'content-type', 'application/json'],
    body: JSON.stringify({ model: 'claude-sonnet-4-5', max_tokens: 100, messages }),
  })
}

const sentBy = ({ upstream }: ProxiedServer) => upstream.requests.map(({ body }) => body.toString())
const resultIn = (body: string | undefined, index: number): string =>
  JSON.parse(body ?? '').messages[index].content[0].content as string

async function inProject(project: string, work: (served: ProxiedServer) => Promise<void>): Promise<void> {
  const backend = storingIn(pipeline)
  await withProxy(work, { proxy: { backend, lateMs: LATE_MS }, gateway: { project } })
}

describe('stub', () => {
  test('shortens a large result before it is sent for the first time, and it can be recalled byte for byte', async () => {
    await inProject('stubbed', async (served) => {
      const { headers } = await ask(served, conversation(1))
      const [body] = sentBy(served)
      const stub = resultIn(body, 2)
      expect(stub.length).toBeLessThan(page(0).length / 2)
      expect(headers['x-heddle-mode']).toBe('stub')
      const [, received, sent] = /^in=(\d+);sent=(\d+);cached=0$/.exec(String(headers['x-heddle-tokens'])) ?? []
      expect(Number(sent)).toBeLessThan(Number(received) / 2)
      const reference = /\[recall:(msg-\w+)\]/.exec(stub)?.[1] ?? ''
      const recalled = await pipeline
        .clientOf('stubbed')
        .recall({ thread: 'pages', ref: reference, maxTokens: 100_000 })
      expect(recalled.content).toBe(page(0))
    })
  })

  test('never changes a byte of what was sent, whatever comes after it', async () => {
    await inProject('stubbed-again', async (served) => {
      for (const steps of [1, 2, 3]) await ask(served, conversation(steps))
      const bodies = sentBy(served)
      for (const [index, body] of bodies.slice(1).entries()) {
        const before = bodies[index] ?? ''
        // Up to the end of the list of messages.
        expect(body.startsWith(before.slice(0, -2))).toBe(true)
      }
      expect(resultIn(bodies[2], 6)).toContain('left out by Heddle')
    })
  })

  test.each([
    ['fails', () => Promise.reject(new Error('away'))],
    ['hangs', () => NEVER],
  ])('sends the result itself if the store %s, and keeps to that', async (how, append) => {
    const project = `stubbed-${how}`
    const state = { isAway: true }
    const messages = { append } as unknown as Client['messages']
    const backend = storingIn(pipeline, (client) => (state.isAway ? { ...client, messages } : client))
    await withProxy(
      async (served) => {
        expect((await ask(served, conversation(1))).status).toBe(200)
        expect(resultIn(sentBy(served)[0], 2)).toBe(page(0))
      },
      { proxy: { backend, lateMs: 50 }, gateway: { project } },
    )
  })

  test('keeps what was shortened before as it was while the store is away, and counts no savings', async () => {
    const state = { isAway: false }
    const messages = { append: () => Promise.reject(new Error('away')) } as unknown as Client['messages']
    const backend = storingIn(pipeline, (client) => ({
      ...client,
      get messages() {
        return state.isAway ? messages : client.messages
      },
    }))
    const clock = new ManualClock()
    await withProxy(
      async (served) => {
        await ask(served, conversation(1))
        // The cache is cold: with the store, older results would be shortened further.
        await clock.advance(600_000)
        state.isAway = true
        const { headers } = await ask(served, conversation(2))
        const [before, after] = sentBy(served)
        expect(after?.startsWith(before?.slice(0, -2) ?? '-')).toBe(true)
        expect(resultIn(after, 4)).toBe(page(1))
        const [, received, sent] = /^in=(\d+);sent=(\d+);/.exec(String(headers['x-heddle-tokens'])) ?? []
        expect(Number(received) - Number(sent)).toBeLessThan(page(0).length / 3)
        expect(Number(received) - Number(sent)).toBeGreaterThan(0)
      },
      { proxy: { backend, clock, lateMs: LATE_MS }, gateway: { project: 'stubbed-kept' } },
    )
  })
})

describe('results of earlier requests', () => {
  test('are shortened without another wait for the store', async () => {
    const project = 'stubbed-old'
    const awaited: string[] = []
    const backend = storingIn(pipeline, (client) => ({
      ...client,
      messages: {
        ...client.messages,
        append(append) {
          awaited.push(append.ack ?? 'stored')
          return append.ack === 'queued' ? client.messages.append(append) : NEVER
        },
      },
    }))
    const clock = new ManualClock()
    await withProxy(
      async (served) => {
        // Short enough to be sent once as it is.
        await ask(served, conversation(1, 200))
        const client = pipeline.clientOf(project)
        await waitFor(async () => (await client.threads.list({})).items[0]?.messages === 3)
        await clock.advance(600_000)
        await ask(served, conversation(2, 200))
        const [before, after] = sentBy(served)
        expect(resultIn(before, 2)).toBe(page(0, 200))
        expect(resultIn(after, 2)).toContain('left out by Heddle')
        expect(resultIn(after, 4)).toBe(page(1, 200))
        expect(awaited).not.toContain('stored')
      },
      { proxy: { backend, clock, lateMs: LATE_MS }, gateway: { project } },
    )
  })
})

describe('results that the store refuses', () => {
  test('are sent as they are, as long as the conversation lasts', async () => {
    const clock = new ManualClock()
    const refused = 'x'.repeat(limits.messageCharactersMax + 1)
    const withRefused = (steps: number) => {
      const messages = conversation(steps)
      messages[2] = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_0', content: refused }] }
      return messages
    }
    await withProxy(
      async (served) => {
        await ask(served, withRefused(1))
        const client = pipeline.clientOf('stubbed-refused')
        // Its question and its call.
        await waitFor(async () => (await client.threads.list({})).items[0]?.messages === 2)
        await ask(served, withRefused(2))
        // The cache is cold: older results are shortened.
        await clock.advance(600_000)
        await ask(served, withRefused(3))
        const bodies = sentBy(served)
        expect(bodies.map((body) => resultIn(body, 2).length)).toEqual(Array(3).fill(refused.length))
        expect(resultIn(bodies[2], 4)).toContain('left out by Heddle')
        expect(resultIn(bodies[2], 6)).toContain('left out by Heddle')
      },
      { proxy: { backend: storingIn(pipeline), clock, lateMs: LATE_MS }, gateway: { project: 'stubbed-refused' } },
    )
  })
})

describe('a control share', () => {
  test('leaves conversations unchanged for comparison', async () => {
    const backend = storingIn(pipeline)
    await withProxy(
      async (served) => {
        const { headers } = await ask(served, conversation(1))
        expect(resultIn(sentBy(served)[0], 2)).toBe(page(0))
        expect(headers['x-heddle-mode']).toBe('observe')
      },
      { proxy: { backend, control: 1 }, gateway: { project: 'control' } },
    )
  })
})

describe('compact', () => {
  test('replaces a history by the summary of the stored thread once that pays', async () => {
    const backend = storingIn(pipeline)
    // The first result is shortened, which pays for the summary; the others stay whole.
    const policy = {
      keptTokens: 3_000,
      summaryTokens: 1_000,
      coverTokensMin: 3_000,
      resultTokensMin: 1_500,
      oldResultTokensMin: 50_000,
    }
    const long = (steps: number) => {
      const [question, call, , ...rest] = conversation(steps, 120)
      return [question, call, conversation(1, 2_000)[2], ...rest] as Message[]
    }
    await withProxy(
      async (served) => {
        const prepared = async () =>
          (await callRaw(`${served.gateway.url}/metrics`, { method: 'GET' })).body
            .toString()
            .includes('heddle_proxy_covers_total{outcome="prepared"}')
        let steps = 1
        for (; steps < 40; steps++) {
          await ask(served, long(steps), 'compact', 'long')
          if (sentBy(served).at(-1)?.includes('condensed by Heddle')) break
          if (steps > 20 && !(await prepared())) await waitFor(prepared, { timeoutMs: 60_000 })
        }
        const { messages } = JSON.parse(sentBy(served).at(-1) ?? '') as { messages: Message[] }
        // The summary may have been prepared some steps before, so what is kept is not of a fixed length.
        expect(messages.length).toBeLessThan(long(steps).length)
        expect(JSON.stringify(messages[0])).toContain('condensed by Heddle')
        expect(messages[1]?.role).toBe('assistant')
        expect(messages.at(-1)).toEqual(long(steps).at(-1))
        // Later requests begin with the same bytes, but for one that gets a newer summary, if that was prepared meanwhile.
        const kept: boolean[] = []
        for (let more = 1; more <= 3; more++) {
          await ask(served, long(steps + more), 'compact', 'long')
          const [before, after] = sentBy(served).slice(-2)
          kept.push(after?.startsWith(before?.slice(0, -2) ?? '-') ?? false)
        }
        expect(kept.filter((isKept) => !isKept).length).toBeLessThanOrEqual(1)
      },
      { proxy: { backend, policy, lateMs: LATE_MS }, gateway: { project: 'compacted' } },
    )
  })
})
