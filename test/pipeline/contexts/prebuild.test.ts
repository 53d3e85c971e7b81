import type { Client } from '@heddle/client/interface'
import type { ContextRequest, ContextResult } from '@heddle/contracts'
import { projectIdOf, threadIdOf } from '@heddle/core'
import { createClient } from '@heddle/engine'
import { systemClock } from '@heddle/runtime'
import { waitFor } from '@heddle/test-support'
import fc from 'fast-check'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openPipeline, type Pipeline } from '../support.js'
import { AGENT, openTenant, session, THREAD } from '../tenant.js'

let pipeline: Pipeline
let sql: postgres.Sql
/** Milliseconds by which the clock of workers and clients is ahead. */
let aheadMs = 0
const clock = { ...systemClock, nowMs: () => systemClock.nowMs() + aheadMs }

beforeAll(async () => {
  pipeline = await openPipeline()
  await pipeline.start(undefined, { clock })
  sql = postgres(pipeline.databaseUrl, { max: 1, onnotice: () => {} })
})
afterAll(async () => {
  await sql?.end()
  await pipeline?.close()
})

const requests: readonly ContextRequest[] = [
  { thread: THREAD },
  { thread: THREAD, format: 'anthropic' },
  { thread: THREAD, strategy: 'sliding-window', format: 'openai-chat', budget: 2_000 },
]

function clientWithClock(project: string): Client {
  const { store, queues } = pipeline
  return createClient({ store, queues, project, clock })
}

/** Without its id, and without its shared prefix, whose previous context differs between the two. */
function withoutId({ id: _, receipt: { sharedPrefixTokens: __, ...receipt }, ...context }: ContextResult) {
  return { ...context, receipt }
}

/** Contexts of the thread that were built without a request, and include all of its messages. */
async function prepared(project: string): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select context.id from heddle.contexts as context
    join heddle.stage_cursors as cursor on cursor.thread_id = context.thread_id
    where context.thread_id = ${threadIdOf(projectIdOf(project), THREAD)} and context.prepared_count > 0
      and context.status = 'built' and context.head_seq = cursor.head_seq`
  return rows.map(({ id }) => id)
}

/** Contexts of the thread that can answer a request, now or later. */
async function keyed(project: string): Promise<number> {
  const rows = await sql`
    select from heddle.contexts
    where thread_id = ${threadIdOf(projectIdOf(project), THREAD)} and prepared_key is not null`
  return rows.length
}

describe('prebuilt contexts', () => {
  test('are ready at the first request after a message was stored', async () => {
    const { client } = await openTenant(pipeline, 'ready')
    // So large that no compaction follows the prebuilt context.
    await client.agents.put(AGENT, { settings: { budget: 100_000, rollingWindow: null } })
    const messages = session('ready', 40).map(({ message }) => message)
    const request = { thread: THREAD, prebuild: true }
    await client.messages.append({ agent: AGENT, thread: THREAD, messages: messages.slice(0, 30) })
    await client.contexts.build(request)
    await client.messages.append({ agent: AGENT, thread: THREAD, messages: messages.slice(30, 31) })
    await client.threads.waitUntilSettled(THREAD)
    const ids = await waitFor(async () => {
      const found = await prepared('ready')
      return found.length > 0 && found
    })
    const now = () => ({ thread: THREAD, at: new Date(clock.nowMs()).toISOString() })
    // A prebuilt context that was not delivered is not in the history of contexts.
    expect(ids).not.toContain((await client.contexts.at(now())).id)
    const answered = await client.contexts.build(request)
    expect(ids).toContain(answered.id)
    expect((await client.contexts.at(now())).id).toBe(answered.id)
    expect((await client.contexts.build(request)).id).toBe(answered.id)
    expect((await client.contexts.build({ thread: THREAD })).id).not.toBe(answered.id)
    expect((await client.contexts.build({ ...request, message: 'And now?' })).id).not.toBe(answered.id)
  })

  test('are ready after an iteration was stored, too', async () => {
    const { client } = await openTenant(pipeline, 'iterated')
    await client.agents.put(AGENT, { settings: { budget: 100_000, rollingWindow: null } })
    const messages = session('iterated', 5).map(({ message }) => message)
    await client.messages.append({ agent: AGENT, thread: THREAD, messages })
    await client.threads.waitUntilSettled(THREAD)
    const request = { thread: THREAD, prebuild: true }
    const before = await client.contexts.build(request)
    const iterations = [{ prompt: 'try', output: 'done', progressScore: 0.5 }]
    await client.iterations.append({ agent: AGENT, thread: THREAD, iterations })
    // Each stage that reads it may have the context built anew, and only the last of these answers.
    await client.threads.waitUntilSettled(THREAD)
    const isIdle = async () =>
      (await pipeline.queues.stats()).every(({ waiting, active, delayed }) => waiting + active + delayed === 0)
    await waitFor(isIdle, { what: 'stages without jobs' })
    const ids = await waitFor(async () => {
      const found = await prepared('iterated')
      return found.length > 0 && found
    })
    const answered = await client.contexts.build(request)
    expect(ids).toContain(answered.id)
    expect(answered.id).not.toBe(before.id)
  })

  test('equal a context that is built at the moment of the request, whatever changed in between', async () => {
    let run = 0
    let hits = 0
    const change = fc.constantFrom<Change>(...(Object.keys(changes) as Change[]))
    const steps = fc.array(fc.tuple(change, fc.boolean(), fc.nat(2)), { minLength: 8, maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(steps, async (drawn) => {
        const project = `changing-${run++}`
        const { client } = await openTenant(pipeline, project)
        const messages = session(project, 60).map(({ message }) => message)
        const append = (count: number) =>
          client.messages.append({ agent: AGENT, thread: THREAD, messages: messages.splice(0, count) })
        await append(30)
        for (const [step, [kind, settles, index]] of drawn.entries()) {
          const request = requests[index] ?? { thread: THREAD }
          const asked = { ...request, prebuild: true }
          const before = await client.contexts.build(asked)
          await changes[kind]({ client, append, step })
          // Whether or not the stages have finished, the answer reflects the current store.
          if (settles) await client.threads.waitUntilSettled(THREAD)
          const { answered, fresh, cold } = await atOneMoment(client, project, asked, request)
          expect(withoutId(answered), kind).toEqual(withoutId(fresh))
          // Nor does it contain anything that a worker caches from an earlier time.
          expect(withoutId(fresh), kind).toEqual(withoutId(cold))
          if (answered.id === before.id) hits++
        }
      }),
      { numRuns: 2 },
    )
    // Some steps changed nothing: contexts from before them are still valid answers.
    expect(hits).toBeGreaterThan(0)
  })

  test('are made for an agent with rules, but not for requests that select among its items', async () => {
    const { client } = await openTenant(pipeline, 'with-items')
    const request = { thread: THREAD, prebuild: true }
    const messages = session('with-items', 6).map(({ message }) => message)
    const append = async (count: number) => {
      await client.messages.append({ agent: AGENT, thread: THREAD, messages: messages.splice(0, count) })
      await client.threads.waitUntilSettled(THREAD)
    }
    await client.items.put(AGENT, { type: 'rule', name: 'warp', text: 'Keep it tight.', include: 'always' })
    await append(3)
    const first = await client.contexts.build(request)
    expect(JSON.stringify(first.messages)).toContain('Keep it tight.')
    expect((await client.contexts.build(request)).id).toBe(first.id)
    await client.items.put(AGENT, { type: 'rule', name: 'warp', text: 'Keep it loose.' })
    const second = await client.contexts.build(request)
    expect(JSON.stringify(second.messages)).toContain('Keep it loose.')
    await append(1)
    await waitFor(async () => (await prepared('with-items')).length > 0)

    await client.items.put(AGENT, { type: 'rule', name: 'weft', text: 'Beat twice.', include: 'agent' })
    const third = await client.contexts.build(request)
    // Other vectors may select other items, and their changes have no version.
    expect((await client.contexts.build(request)).id).not.toBe(third.id)
    await append(1)
    await waitFor(async () => (await keyed('with-items')) === 0, { what: 'that no more is prepared' })
    await append(1)
    expect(await keyed('with-items')).toBe(0)
  })

  test('are made while the settings enable them, unless the request says otherwise', async () => {
    const { client } = await openTenant(pipeline, 'by-setting')
    const settings = { budget: 100_000, rollingWindow: null }
    await client.agents.put(AGENT, { settings: { ...settings, prebuild: true } })
    const messages = session('by-setting', 40).map(({ message }) => message)
    const append = async () => {
      await client.messages.append({ agent: AGENT, thread: THREAD, messages: messages.splice(0, 5) })
      await client.threads.waitUntilSettled(THREAD)
    }
    const request = { thread: THREAD }
    await append()
    const asked = await client.contexts.build(request)
    expect((await client.contexts.build(request)).id).toBe(asked.id)
    await append()
    const ids = await waitFor(async () => {
      const found = await prepared('by-setting')
      return found.length > 0 && found
    })
    expect(ids).toContain((await client.contexts.build(request)).id)
    expect(ids).not.toContain((await client.contexts.build({ ...request, prebuild: false })).id)
    await client.agents.put(AGENT, { settings })
    const after = await client.contexts.build(request)
    expect((await client.contexts.build(request)).id).not.toBe(after.id)
    await append()
    await waitFor(async () => (await keyed('by-setting')) === 0, { what: 'that no more is prepared' })
  })

  test('are not used from the moment at which their oldest message leaves the window', async () => {
    const client = clientWithClock('leaving')
    await client.agents.put(AGENT, { settings: { rollingWindow: 600 } })
    const sentAt = (agoMs: number) => new Date(clock.nowMs() - agoMs).toISOString()
    const messages = [
      { role: 'user' as const, content: 'the old one', sentAt: sentAt(500_000) },
      { role: 'assistant' as const, content: 'an answer', sentAt: sentAt(499_000) },
      { role: 'user' as const, content: 'the new one', sentAt: sentAt(1_000) },
    ]
    await client.messages.append({ agent: AGENT, thread: THREAD, messages })
    await client.threads.waitUntilSettled(THREAD)
    const request = { thread: THREAD, prebuild: true }
    const first = await client.contexts.build(request)
    expect(JSON.stringify(first.messages)).toContain('the old one')
    expect((await client.contexts.build(request)).id).toBe(first.id)
    aheadMs = 120_000
    try {
      const later = await client.contexts.build(request, { deadlineMs: 200_000 })
      expect(JSON.stringify(later.messages)).not.toContain('the old one')
      expect(withoutId(later)).toEqual(
        withoutId(await client.contexts.build({ thread: THREAD }, { deadlineMs: 200_000 })),
      )
    } finally {
      aheadMs = 0
    }
  })
})

interface Changing {
  readonly client: Client
  readonly append: (count: number) => Promise<unknown>
  readonly step: number
}

const changes = {
  nothing: async () => {},
  message: ({ append }: Changing) => append(1),
  messages: ({ append }: Changing) => append(6),
  late: ({ client, step }: Changing) =>
    client.messages.append({
      agent: AGENT,
      thread: THREAD,
      messages: [
        { role: 'user', content: `Said long before part ${step}.`, sentAt: '2026-02-01T00:00:00Z' },
        { role: 'error', content: `Thread torn in part ${step}.` },
      ],
    }),
  prompt: ({ client, step }: Changing) => client.agents.put(AGENT, { systemPrompt: `You weave part ${step}.` }),
  settings: ({ client, step }: Changing) =>
    client.agents.put(AGENT, { settings: { budget: 3_000 + step, rollingWindow: null } }),
  status: ({ client, step }: Changing) => client.threads.put(THREAD, { agent: AGENT, status: `at part ${step}` }),
  sister: ({ client, step }: Changing) => client.threads.put('sister', { agent: AGENT, status: `dyeing ${step}` }),
  process: ({ client, step }: Changing) => client.processes.put(THREAD, 'loom', { status: `at ${step}` }),
  sisterProcess: async ({ client, step }: Changing) => {
    await client.threads.put('sister', { agent: AGENT })
    await client.processes.put('sister', 'vat', { status: `at ${step}`, ended: step % 2 === 0 })
  },
  uncompact: ({ client }: Changing) => client.contexts.uncompact({ thread: THREAD, all: true }),
  rule: ({ client, step }: Changing) =>
    client.items.put(AGENT, { type: 'rule', name: 'weft', text: `Beat ${step} times.` }),
  clear: async ({ client, append }: Changing) => {
    await client.agents.clear(AGENT, { clearedAt: '2026-01-01T00:00:00Z' })
    await append(2)
  },
} satisfies Record<string, (changing: Changing) => Promise<unknown>>
type Change = keyof typeof changes

let unlike = 0

/** Every compaction of the thread with its state, so that one that came and went again is not missed. */
async function compactions(project: string): Promise<string> {
  const states = await sql`
    select id, status from heddle.context_states
    where thread_id = ${threadIdOf(projectIdOf(project), THREAD)} order by id`
  return JSON.stringify(states)
}

/**
 * The answers from one unchanged state of the store. A context that is in no worker's cache is read
 * again; its settings are those of another strategy.
 */
async function atOneMoment(client: Client, project: string, asked: ContextRequest, request: ContextRequest) {
  for (;;) {
    const compacted = await compactions(project)
    const earlier = await client.contexts.build(request)
    const answered = await client.contexts.build(asked)
    const cold = await client.contexts.build({ ...request, iterations: { shownCharacters: ++unlike } })
    const fresh = await client.contexts.build(request)
    const isUnchanged = JSON.stringify(withoutId(earlier)) === JSON.stringify(withoutId(fresh))
    if (isUnchanged && compacted === (await compactions(project))) return { answered, fresh, cold }
  }
}
