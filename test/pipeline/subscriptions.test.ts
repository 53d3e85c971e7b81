import type { Client } from '@heddle/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { modes, openPipeline, type Pipeline } from './support.js'

const SUBSCRIBERS = 64
const CONTEXTS = 40
const AGENT = 'watched'

/** Listens until it has so many, going away after every few and coming again with the last number that it has. */
async function listen(client: Client, stay: number, after: number): Promise<string[]> {
  const got: string[] = []
  let last = after
  while (got.length < CONTEXTS) {
    const ending = new AbortController()
    const delivered = await client.contexts.subscribe({ agent: AGENT, after: last, signal: ending.signal })
    let seen = 0
    for await (const { id, event } of delivered) {
      expect(event.number).toBeGreaterThan(last)
      last = event.number
      got.push(id)
      if (++seen === stay || got.length === CONTEXTS) break
    }
    ending.abort()
  }
  return got
}

describe.each(modes().filter(({ mode }) => mode !== 'embedded'))('subscribers on $title', ({ mode, skip }) => {
  let pipeline: Pipeline

  beforeAll(async () => {
    if (skip) return
    pipeline = await openPipeline(mode)
    await pipeline.start(['ingest', 'assemble'])
  })
  afterAll(() => pipeline?.close())

  test.skipIf(skip)('who come and go while contexts are built get each once, and in one order', async () => {
    const { client } = pipeline
    const threads = ['one', 'two', 'three', 'four']
    for (const thread of [...threads, 'another'])
      await client.messages.append({
        agent: thread === 'another' ? 'unwatched' : AGENT,
        thread,
        messages: [{ role: 'user', content: 'begin' }],
      })
    const listening = Array.from({ length: SUBSCRIBERS }, (_, index) => listen(client, 1 + (index % 7), 0))
    const builds = Array.from({ length: CONTEXTS }, (_, index) =>
      client.contexts.build({ thread: threads[index % threads.length] ?? '', message: `ask ${index}` }),
    )
    const unwatched = Array.from({ length: CONTEXTS }, () => client.contexts.build({ thread: 'another' }))
    const built = (await Promise.all(builds)).map(({ id }) => id)
    await Promise.all(unwatched)
    const heard = await Promise.all(listening)
    expect([...(heard[0] ?? [])].sort()).toEqual(built.sort())
    for (const each of heard) expect(each).toEqual(heard[0])
  })
})
