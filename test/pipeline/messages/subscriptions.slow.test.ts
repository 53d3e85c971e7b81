import type { Client } from '@heddle/client/interface'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { openPipeline, type Pipeline, queueBackends } from '../support.js'

const SUBSCRIBERS = 64
const CONTEXTS = 40
const AGENT = 'watched'

/** Listens until it has this many, disconnecting after every few and reconnecting with its last number. */
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

describe.each(queueBackends())('subscribers on $title', ({ mode, skip }) => {
  let pipeline: Pipeline

  beforeAll(async () => {
    if (skip) return
    pipeline = await openPipeline(mode)
    await pipeline.start(['ingest', 'assemble'])
  })
  afterAll(() => pipeline?.close())

  test.skipIf(skip)(
    'that connect and disconnect while contexts are built get each event once, and in one order',
    async () => {
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
    },
  )

  test.skipIf(skip)('get the events that a killed process had not published, and each once', async () => {
    const { client } = pipeline
    const agent = 'untold'
    await client.messages.append({ agent, thread: 'untold', messages: [{ role: 'user', content: 'begin' }] })
    const made = [(await client.contexts.build({ thread: 'untold' })).id, (await client.snapshots.save({ agent })).id]
    const sql = postgres(pipeline.databaseUrl, { max: 1 })
    onTestFinished(() => sql.end())
    const told = async () =>
      (await sql`select subject_id from heddle.events where subject_id = any(${made}::uuid[])`).map(
        (row) => row['subject_id'],
      )
    await expect.poll(told).toHaveLength(2)
    // As if it had been killed after the commits.
    await sql`delete from heddle.events where subject_id = any(${made}::uuid[])`
    const looking = await Promise.all(
      [1, 2].map(() => pipeline.start(['prune'], { reconcile: { everyMs: 50, patienceMs: 0 } })),
    )
    const ending = new AbortController()
    const heard: string[] = []
    for await (const { id } of await client.contexts.subscribe({ agent, after: 0, signal: ending.signal })) {
      heard.push(id)
      if (heard.length === made.length) break
    }
    ending.abort()
    expect(heard.sort()).toEqual([...made].sort())
    for (const stages of looking) await stages.stop()
    expect(await told()).toHaveLength(2)
  })
})
