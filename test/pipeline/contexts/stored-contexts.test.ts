import { createHash } from 'node:crypto'
import type { Client } from '@heddle/client/interface'
import type { ContextRequest, ContextResult } from '@heddle/contracts'
import { projectIdOf, threadIdOf } from '@heddle/core'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openPipeline, type Pipeline } from '../support.js'
import { AGENT, openTenant, session, THREAD } from '../tenant.js'

/** Rounds of one change and ten contexts each: few by default, a thousand contexts with HEDDLE_STORED_CONTEXTS=1000. */
const ROUNDS = Number(process.env['HEDDLE_STORED_CONTEXTS'] ?? 60) / 10

let pipeline: Pipeline
let sql: postgres.Sql

beforeAll(async () => {
  pipeline = await openPipeline()
  await pipeline.start()
  sql = postgres(pipeline.databaseUrl, { max: 1, onnotice: () => {} })
})
afterAll(async () => {
  await sql?.end()
  await pipeline?.close()
})

/** Numbers from 0 up to `below`, the same ones for the same seed. */
function chances(seed: number): (below: number) => number {
  let draw = 0
  return (below) => createHash('sha256').update(`${seed}-${draw++}`).digest().readUInt32BE(0) % below
}

/** Ten contexts of one time: every format, large and small, by every strategy that shows messages. */
function requests(round: number): ContextRequest[] {
  const thread = THREAD
  return [
    { thread },
    { thread, message: `And what about part ${round}, as was asked?` },
    { thread, format: 'openai-chat' },
    { thread, format: 'anthropic', message: `Go on with part ${round}.` },
    { thread, format: 'openai-chat', budget: 1_500 },
    { thread, format: 'anthropic', budget: 20_000 },
    { thread, strategy: 'sliding-window', budget: 2_000 },
    { thread, strategy: 'tree', format: 'openai-chat' },
    { thread, counter: 'characters' },
    { thread, format: 'openai-chat', budget: 60_000, strategy: 'full-history' },
  ]
}

/** One change of a context's inputs, of any kind. */
async function change(
  client: Client,
  draw: (below: number) => number,
  round: number,
  lastSentAt: string,
): Promise<void> {
  const changes: (() => Promise<unknown>)[] = [
    () => client.agents.put(AGENT, { systemPrompt: `You weave, and today is the day ${round}.` }),
    () => client.agents.put(AGENT, { docs: [{ name: 'loom', text: `The loom has ${round} shafts, and a reed.` }] }),
    () => client.agents.put(AGENT, { settings: { budget: 3_000 + draw(3) * 1_000, rollingWindow: null } }),
    () => client.threads.put(THREAD, { agent: AGENT, status: `weaving part ${round}` }),
    () => client.threads.put(THREAD, { agent: AGENT, title: `Cloth ${round}`, goal: 'a long cloth' }),
    () => client.threads.put('sister', { agent: AGENT, status: `dyeing ${round}` }),
    () => client.processes.put(THREAD, `process-${draw(3)}`, { status: `at ${round} percent` }),
    () => client.processes.put('sister', `process-${draw(3)}`, { status: `at ${round}`, ended: draw(2) === 0 }),
    () => client.items.put(AGENT, { type: 'rule', name: 'weft', text: `Beat ${round} times.` }),
    () => client.items.put(AGENT, { type: 'reference', name: 'part', text: `Part ${round}.`, include: 'agent' }),
    async () => client.contexts.uncompact({ thread: THREAD, all: true }),
  ]
  await changes[draw(changes.length)]?.()
  if (round % 40 === 39) await client.agents.clear(AGENT, { clearedAt: lastSentAt })
}

async function changeEverything(client: Client): Promise<void> {
  await client.agents.put(AGENT, { systemPrompt: 'changed', docs: [], settings: { budget: 9_000, rollingWindow: 60 } })
  await client.threads.put(THREAD, { agent: AGENT, title: 'changed', goal: 'changed', status: 'changed' })
  await client.threads.put('sister', { agent: AGENT, status: 'changed' })
  for (const { type, name } of (await client.items.list(AGENT)).items) await client.items.remove(AGENT, { type, name })
  for (const process of [0, 1, 2]) await client.processes.put(THREAD, `process-${process}`, { status: 'changed' })
  await client.agents.clear(AGENT)
}

const bytes = (context: ContextResult) => JSON.stringify(context)

describe('stored contexts', () => {
  let built: { request: ContextRequest; context: ContextResult }[]
  let client: Client

  beforeAll(async () => {
    const tenant = await openTenant(pipeline, 'history')
    client = tenant.client
    await client.items.put(AGENT, { type: 'rule', name: 'weft', text: 'Beat once.', include: 'always' })
    await client.threads.put('sister', { agent: AGENT })
    const messages = session('history', 300)
    const draw = chances(1)
    built = []
    let sent = 0
    for (let round = 0; round < ROUNDS; round++) {
      const next = messages.slice(sent, sent + 1 + draw(5) + (round === 0 ? 40 : 0))
      sent += next.length
      if (next.length > 0) {
        await tenant.client.messages.append({
          agent: AGENT,
          thread: THREAD,
          messages: next.map(({ message }) => message),
        })
      }
      await change(client, draw, round, messages[sent - 1]?.message.sentAt ?? '')
      const asked = requests(round)
      const contexts = await Promise.allSettled(asked.map((request) => client.contexts.build(request)))
      contexts.forEach((settled, index) => {
        const request = asked[index]
        if (settled.status === 'fulfilled' && request) built.push({ request, context: settled.value })
      })
    }
    await changeEverything(client)
    const projectId = projectIdOf('history')
    await sql`delete from heddle.context_deliveries where project_id = ${projectId}`
  }, 900_000)

  test('are rebuilt byte for byte without their delivered bytes, after everything was changed', async () => {
    expect(built.length).toBeGreaterThan(ROUNDS * 9)
    const kept = { condensed: 0, summaries: 0, hidden: 0 }
    for (const { context } of built) {
      const rebuilt = await client.contexts.get(context.id)
      expect(bytes(rebuilt)).toBe(bytes(context))
      if (context.summaryUsed) kept.summaries++
      if (context.receipt.entries.some(({ mode }) => mode === 'condensed' || mode === 'stub')) kept.condensed++
    }
    // The rebuilt contexts include summaries, condensed messages and other threads.
    expect(kept.summaries).toBeGreaterThan(ROUNDS)
    expect(kept.condensed).toBeGreaterThan(ROUNDS)
    const [{ hidden } = { hidden: 0 }] = await sql<{ hidden: number }[]>`
      select count(*)::int as hidden from heddle.contexts where hidden is not null`
    expect(hidden).toBeGreaterThan(ROUNDS)
  }, 900_000)

  test('are found by their request and time, and by their time alone', async () => {
    const moments = await sql<{ id: string; at: string }[]>`
      select id, to_char(shown_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at from heddle.contexts
      where thread_id = ${threadIdOf(projectIdOf('history'), THREAD)} and status = 'built'`
    const momentOf = new Map(moments.map(({ id, at }) => [id, at]))
    for (const { request, context } of built) {
      const at = momentOf.get(context.id) ?? ''
      expect(bytes(await client.contexts.build({ ...request, at }))).toBe(bytes(context))
      const last = await client.contexts.at({ thread: THREAD, at })
      expect(momentOf.get(last.id)).toBe(at)
    }
    const { request, context } = built.at(-1) ?? { request: { thread: THREAD } }
    const later = new Date(Date.now() - 1).toISOString()
    expect(await client.contexts.build({ ...request, at: later })).toEqual(context)
    expect(await client.contexts.order({ ...request, at: later })).toBe(context?.id)
    const future = new Date(Date.now() + 60_000).toISOString()
    await expect(client.contexts.at({ thread: THREAD, at: future })).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
      field: 'at',
    })
    const unlike = { thread: THREAD, budget: 7_777, at: later }
    for (const request of [unlike, { thread: THREAD, at: '2001-01-01T00:00:00Z' }])
      await expect(client.contexts.build(request)).rejects.toMatchObject({ code: 'NOT_FOUND', field: 'at' })
    await expect(client.contexts.build({ thread: 'none', at: later })).rejects.toMatchObject({ field: 'thread' })
  }, 900_000)

  test('store only data that is new in them, and no message', async () => {
    const threadId = threadIdOf(projectIdOf('history'), THREAD)
    const [sizes] = await sql<{ lines: number; chains: number; rows: number }[]>`
      select
        avg(length(delta))::int as lines, count(distinct chain_id)::int as chains, count(*)::int as rows
      from heddle.context_lines where thread_id = ${threadId}`
    expect(sizes?.rows).toBe(built.length)
    // One chain for each kind of request, until it is too long.
    expect(sizes?.chains).toBeLessThanOrEqual(Math.max(10, built.length / 10))
  })

  test('are not rebuilt if their inputs have changed', async () => {
    const { id, receipt } = built.at(-1)?.context ?? { id: '', receipt: { entries: [] } }
    const entry = receipt.entries.find(({ mode, section }) => mode === 'raw' && section === 'history')
    const isRefused = () => expect(client.contexts.get(id)).rejects.toMatchObject({ code: 'INTERNAL' })
    // One of them: a context that was sent as its differences has the digest of its elements.
    await sql`
      update heddle.contexts
      set digest = digest || '\\x00'::bytea, element_digest = element_digest || '\\x00'::bytea
      where id = ${id}`
    await isRefused()
    await sql`
      update heddle.contexts
      set
        digest = substring(digest for length(digest) - 1),
        element_digest = substring(element_digest for length(element_digest) - 1)
      where id = ${id}`
    await client.contexts.get(id)
    const changed = await sql`
      update heddle.messages set content = '[{"type":"text","text":"another"}]'
      where thread_id = ${threadIdOf(projectIdOf('history'), THREAD)} and seq = ${entry?.fromSeq ?? 0}`
    expect(changed.count).toBe(1)
    await isRefused()
  })
})
