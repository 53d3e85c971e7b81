import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Client, NewMessage } from '@heddle/client/interface'
import { type FormatName, type IngestJob, RetryableError } from '@heddle/contracts'
import { agentIdOf, projectIdOf, threadIdOf } from '@heddle/core'
import { createLogger } from '@heddle/runtime'
import { insertDeadLetter } from '@heddle/store'
import { waitFor } from '@heddle/test-support'
import { insertSnapshot } from '@heddle/test-support/samples/insert-snapshot'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { searchDatabase, searchFiles, searchRedis } from '../canaries.js'
import { openPipeline, type Pipeline, queueBackends } from '../support.js'

const AGENT = 'singer'
const PROJECT = 'aviary'
const projectId = projectIdOf(PROJECT)
const agentId = agentIdOf(projectId, AGENT)

/** Every place that can hold content of a thread. Each has a distinct word, so that the places are not confused. */
const kinds = [
  'name',
  'content',
  'fact',
  'call',
  'thinking',
  'metadata',
  'source',
  'archived',
  'neutral',
  'openai',
  'anthropic',
  'title',
  'goal',
  'status',
  'process',
  'iteration',
  'output',
  'waiting',
  'delayed',
  'letter',
  'snapshot',
] as const
type Kind = (typeof kinds)[number]
const word = (thread: string, kind: Kind) => `${thread}qq${kind}`
const wordsOf = (thread: string) => kinds.map((kind) => word(thread, kind))
const threadName = (thread: string) => `thread ${word(thread, 'name')}`
const idOf = (thread: string) => threadIdOf(projectId, threadName(thread))

function messagesOf(thread: string): NewMessage[] {
  const metadata = { note: word(thread, 'metadata') }
  return Array.from({ length: 40 }, (_, index): NewMessage[] => [
    {
      role: 'user' as const,
      content: `Look at ${word(thread, 'content')} ${index}.${index === 7 ? ` I live in ${word(thread, 'fact')}.` : ''}`,
      sourceId: `${word(thread, 'source')}-${index}`,
    },
    {
      role: 'assistant',
      content: '',
      metadata,
      thinking: [{ text: `I think of ${word(thread, 'thinking')}.`, signature: 's' }],
      toolCalls: [
        { id: `call-${index}`, name: 'Bash', arguments: { command: `echo ${word(thread, 'call')} ${index}` } },
      ],
    },
    { role: 'tool_result', toolCallId: `call-${index}`, content: `${word(thread, 'archived')} ${index}\n`.repeat(40) },
    { role: 'assistant', content: `Done with ${index}: it is decided.` },
  ]).flat()
}

function ingestJob(thread: string, kind: Kind): IngestJob {
  const message = { id: randomUUID(), role: 'user' as const, content: word(thread, kind) }
  const placed = { message, ordinal: 0, orderedAt: new Date().toISOString() }
  return { projectId, requestId: randomUUID(), agent: AGENT, thread: threadName(thread), messages: [placed] }
}

async function seed({ client, store }: { client: Client; store: Pipeline['store'] }, thread: string): Promise<void> {
  const name = threadName(thread)
  await client.messages.append({
    agent: AGENT,
    thread: name,
    messages: messagesOf(thread),
    newAgentRollingWindow: null,
  })
  await client.threads.waitUntilSettled(name, { deadlineMs: 60_000 })
  const formats = { neutral: 'neutral', openai: 'openai-chat', anthropic: 'anthropic' } as const satisfies Record<
    string,
    FormatName
  >
  for (const [kind, format] of Object.entries(formats)) {
    await client.contexts.build({ thread: name, format, message: `now ${word(thread, kind as Kind)}` })
  }
  await client.contexts.build({ thread: name, budget: 3_000 })
  await client.threads.waitUntilSettled(name, { deadlineMs: 60_000 })
  await client.iterations.append({
    agent: AGENT,
    thread: name,
    iterations: [{ prompt: `go ${word(thread, 'iteration')}`, output: `went ${word(thread, 'output')}` }],
  })
  await store.inProject(projectId, (tx) =>
    insertDeadLetter(tx, {
      stage: 'ingest',
      jobId: randomUUID(),
      threadId: idOf(thread),
      agentId,
      payload: ingestJob(thread, 'letter'),
      error: { code: 'INTERNAL', detail: 'broke' },
      attempts: 8,
    }),
  )
}

/** Set after the contexts were built: otherwise each would show it of its sister. */
async function describeThread(client: Client, thread: string): Promise<void> {
  const name = threadName(thread)
  const told = { title: word(thread, 'title'), goal: word(thread, 'goal'), status: word(thread, 'status') }
  await client.threads.put(name, { agent: AGENT, ...told })
  await client.processes.put(name, 'build', { status: word(thread, 'process') })
}

async function snapshot(store: Pipeline['store'], threads: readonly string[]): Promise<void> {
  const timestamp = new Date().toISOString()
  const messages = threads.map((thread) => ({
    id: randomUUID(),
    thread_id: idOf(thread),
    role: 'user' as const,
    content: word(thread, 'snapshot'),
    timestamp,
  }))
  const file = {
    session_id: randomUUID(),
    timestamp,
    description: 'both',
    summary: threads.map((thread) => word(thread, 'snapshot')).join(' and '),
    message_count: messages.length,
    window_start: null,
    window_end: timestamp,
    messages,
  }
  await store.inProject(projectId, (tx) => insertSnapshot(tx, { agentId, fileName: 'both.json', file }))
}

/** Rows that no code of Heddle writes yet, or that need a long history. */
async function seedByHand(url: string): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  try {
    const itemId = randomUUID()
    const ids = ['gone', 'stays'].map(idOf)
    await sql`insert into heddle.items (id, project_id, agent_id, type, name) values (${itemId}, ${projectId}, ${agentId}, 'rule', 'r')`
    await sql`
      insert into heddle.item_versions (item_id, version, project_id, content_hash) values (${itemId}, 1, ${projectId}, '')`
    // Those of the hashing embedder, which the stages here have, are not stored.
    await sql`
      insert into heddle.vectors (thread_id, model, first_chunk, project_id, chunks, to_seq, places, embedding)
      select thread_id, 'words-384', 0, ${projectId}, 1, 1, '', '' from unnest(${ids}::uuid[]) as thread_id`
    await sql`insert into heddle.tool_servers (agent_id, name, project_id) values (${agentId}, 'server', ${projectId})`
    await sql`
      insert into heddle.api_keys (id, project_id, name, role, hash)
      values (${randomUUID()}, ${projectId}, 'key', 'read', '\\x01')`
    await sql`
      insert into heddle.grants (id, project_id, grantee_project_id, scope)
      values (${randomUUID()}, ${projectId}, ${projectId}, 'recall')`
    for (const [threadId, ownerOfAgent] of [...ids.map((id) => [id, null] as const), [null, agentId] as const]) {
      await sql`
        insert into heddle.memory_blocks (thread_id, agent_id, project_id, label, version)
        values (${threadId}, ${ownerOfAgent}, ${projectId}, 'human', 1)`
      await sql`
        insert into heddle.fact_scopes (scope_id, agent_id, thread_id, project_id, changes)
        values (${threadId ?? agentId}, ${agentId}, ${threadId}, ${projectId}, 1)
        on conflict (scope_id) do nothing`
      await sql`
        insert into heddle.memory_block_versions (
          thread_id, agent_id, project_id, label, version, description, value, characters_max, read_only, change)
        values (${threadId}, ${ownerOfAgent}, ${projectId}, 'human', 1, '', 'x', 9, false, 'put')`
    }
    await sql`
      insert into heddle.memory_block_grants (grantee_agent_id, owner_id, label, version, mode, project_id)
      values (${agentId}, ${agentId}, 'human', 1, 'read', ${projectId})`
    for (const id of ids) {
      await sql`
        insert into heddle.message_erasures (thread_id, message_id, project_id, seq, erasure_id)
        values (${id}, ${itemId}, ${projectId}, 1, ${itemId})`
      // A run that shares no message: a thread that others share messages of is not deleted.
      await sql`
        insert into heddle.thread_origins (thread_id, place, project_id, origin_id, after_seq, to_seq, parent_id)
        values (${id}, 0, ${projectId}, ${itemId}, 0, 0, ${itemId})`
      await sql`insert into heddle.undone_messages (thread_id, message_id, project_id) values (${id}, ${itemId}, ${projectId})`
      await sql`
        insert into heddle.pins (thread_id, message_id, project_id, changed_at, is_pinned)
        values (${id}, ${itemId}, ${projectId}, now(), true)`
      await sql`
        insert into heddle.facts (
          id, agent_id, thread_id, project_id, subject, subject_key, predicate, object, kind, is_negated, is_single, statement,
          valid_from, confidence, origin)
        values (${randomUUID()}, ${agentId}, ${id}, ${projectId}, 's', 's', 'p', 'o', 'other', false, false, 'x', now(), 1, 'put')`
      await sql`
        insert into heddle.thread_items (thread_id, item_id, version, project_id, include_mode)
        values (${id}, ${itemId}, 1, ${projectId}, 'manual')`
      await sql`
        insert into heddle.context_items (
          context_id, project_id, thread_id, agent_id, item_ids, versions, modes, scores, tokens)
        values (${randomUUID()}, ${projectId}, ${id}, ${agentId}, ${[itemId]}, '{1}', '{manual}', '{null}', '{4}')`
      await sql`
        insert into heddle.calibrations (
          agent_id, project_id, model, provider, ratio, "offset", margin, learnt_ratio, learnt_offset, learnt_margin, samples)
        values (${agentId}, ${projectId}, 'm', 'test', 1, 0, 0, 1, 0, 0, 20)
        on conflict do nothing`
      await sql`
        insert into heddle.progress_summaries (
          thread_id, lane, clear_epoch, version, project_id, kind, total, covered_count, covered_from, covered_to, summary,
          summary_tokens, summarizer)
        values (${id}, 'iterations', 0, 1, ${projectId}, 'fold', 6, 1, 1, 1, 'a loop', 2, 'test')`
      await sql`
        insert into heddle.summary_calls (
          thread_id, project_id, summary_id, purpose, provider, model, outcome, duration_ms)
        values (${id}, ${projectId}, ${itemId}, 'compaction', 'test', 'test', 'ok', 1)`
      await sql`
        insert into heddle.proxied_requests (
          id, thread_id, project_id, thread, upstream, protocol, model, mode, is_control, epoch, reasons, entries, stubs,
          covered_entries, tokens_received, tokens_sent, tokens_cached, status, added_ms)
        values (
          ${randomUUID()}, ${id}, ${projectId}, 'x', 'anthropic', 'anthropic', 'm', 'observe', false, 1, '{}', 1, 0, 0, 1, 1,
          0, 200, 1)`
      await sql`
        insert into heddle.proxied_conversations (thread_id, project_id, thread, version, state, stubs, texts)
        values (${id}, ${projectId}, 'x', 1, '{}', '[]', '{}')`
      await sql`
        insert into heddle.proxied_views (
          id, thread_id, project_id, depth, delta, bytes_received, bytes_sent, hash_received, hash_sent)
        values (${randomUUID()}, ${id}, ${projectId}, 0, '{}', 1, 1, '', '')`
      await sql`
        insert into heddle.proxied_texts (thread_id, hash, project_id, kind, text)
        values (${id}, 'x', ${projectId}, 'head', 'x')`
      await sql`
        insert into heddle.summary_parts (thread_id, hash, summarizer, project_id, summary)
        values (${id}, '\\x01', 'test', ${projectId}, 'a part')`
      await sql`
        insert into heddle.summary_leaves (thread_id, state_id, place, project_id, hash, end_at, end_ordinal, end_id)
        values (${id}, ${itemId}, 0, ${projectId}, '\\x01', now(), 0, ${itemId})`
      await sql`
        update heddle.context_states set status = 'void', voided_at = now()
        where id = (select id from heddle.context_states where thread_id = ${id} order by generation desc limit 1)`
    }
  } finally {
    await sql.end()
  }
}

/** Rows of each table with this column that hold the value. */
async function rowsBy(url: string, column: string, value: string): Promise<Record<string, number>> {
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  try {
    const tables = await sql<{ name: string }[]>`
      select table_name as name from information_schema.columns
      where table_schema = 'heddle' and column_name = ${column} and table_name <> 'tombstones'`
    const counts: Record<string, number> = {}
    for (const { name } of tables) {
      const [row] =
        await sql`select count(*)::integer as count from heddle.${sql(name)} where ${sql(column)} = ${value}`
      counts[name] = row?.['count']
    }
    return counts
  } finally {
    await sql.end()
  }
}

const all = (counts: Record<string, number>, count: number) =>
  Object.fromEntries(Object.keys(counts).map((table) => [table, count]))

describe.each(queueBackends())('an erasure on $title', ({ mode, skip }) => {
  describe.skipIf(skip)('of data in every table, queue and file', () => {
    let pipeline: Pipeline
    let client: Client
    let folder: string

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'heddle-erasure-'))
      pipeline = await openPipeline(mode)
      client = pipeline.clientOf(PROJECT)
      await client.agents.put(AGENT, {
        systemPrompt: 'sing',
        settings: { budget: 4_000, rollingWindow: null, remember: 'rules' },
      })
      const stages = await pipeline.start()
      const seeded = { client, store: pipeline.store }
      await seed(seeded, 'gone')
      await seed(seeded, 'stays')
      await describeThread(client, 'gone')
      await client.contexts.build({ thread: threadName('stays'), message: 'what else goes on?' })
      await describeThread(client, 'stays')
      await client.agents.clear(AGENT)
      const { items: facts } = await client.facts.list(AGENT, { predicate: 'lives in' })
      expect(facts.map(({ object }) => object).sort()).toEqual(['gone', 'stays'].map((thread) => word(thread, 'fact')))
      await stages.stop()
      await snapshot(pipeline.store, ['gone', 'stays'])
      await snapshot(pipeline.store, ['gone'])
      await snapshot(pipeline.store, ['stays'])
      await seedByHand(pipeline.databaseUrl)
      await leaveJobs()
    }, 120_000)
    afterAll(async () => {
      await pipeline?.close()
      await rm(folder, { recursive: true, force: true })
    })

    /** One job of each thread waits for its next attempt, one has not been fetched. */
    async function leaveJobs(): Promise<void> {
      const { queues } = pipeline
      const worker = await queues.defineWorker({
        stage: 'ingest',
        handler: async () => {
          throw new RetryableError('SERVICE_UNAVAILABLE', 'away', { retryAfter: 900 })
        },
        recordDeadLetter: async () => {},
        log: createLogger({ level: 'silent', name: 'test' }),
      })
      for (const thread of ['gone', 'stays']) await queues.add('ingest', ingestJob(thread, 'delayed'))
      await waitFor(async () => (await queues.stats())[0]?.delayed === 2, { what: 'two delayed jobs' })
      await worker.close()
      for (const thread of ['gone', 'stays']) await queues.add('ingest', ingestJob(thread, 'waiting'))
    }

    async function search(words: readonly string[]): Promise<string[]> {
      const { queueBackend, databaseUrl, prefix } = pipeline
      const found = [await searchDatabase(databaseUrl, words), await searchFiles(folder, words)]
      if (queueBackend.kind === 'redis') found.push(await searchRedis(queueBackend.url, prefix, words))
      return words.filter((each) => found.some((places) => places.has(each)))
    }

    test('of a thread removes all its data, and nothing of its sister thread', async () => {
      const before = await rowsBy(pipeline.databaseUrl, 'thread_id', idOf('gone'))
      expect(Object.entries(before).filter(([, count]) => count === 0)).toEqual([])
      expect(await search(wordsOf('gone'))).toEqual(wordsOf('gone'))
      expect(await search(wordsOf('stays'))).toEqual(wordsOf('stays'))

      const result = await client.threads.delete(threadName('gone'))
      expect(result).toMatchObject({ kind: 'thread', jobs: 2 })
      expect(result.removed).toMatchObject({ threads: 1, messages: 161, snapshots: 1, snapshots_rewritten: 1 })

      const after = await rowsBy(pipeline.databaseUrl, 'thread_id', idOf('gone'))
      expect(after).toEqual(all(after, 0))
      expect(await search(wordsOf('gone'))).toEqual([])
      expect(await search(wordsOf('stays'))).toEqual(wordsOf('stays'))
    })

    test('hides the thread from every operation, and does nothing the second time', async () => {
      const name = threadName('gone')
      await expect(client.threads.get(name)).rejects.toMatchObject({ code: 'NOT_FOUND' })
      await expect(client.contexts.build({ thread: name })).rejects.toMatchObject({ code: 'NOT_FOUND' })
      expect((await client.threads.list()).items.map((thread) => thread.name)).toEqual([threadName('stays')])
      // No worker has taken the job of the refused request.
      expect(await client.threads.delete(name)).toMatchObject({ jobs: 1, removed: { messages: 161 } })
      await expect(client.threads.delete('never there')).rejects.toMatchObject({ code: 'NOT_FOUND' })
      const stages = await pipeline.start()
      await expect(
        client.messages.append({ agent: AGENT, thread: name, messages: [{ role: 'user', content: 'gone again' }] }),
      ).rejects.toMatchObject({ code: 'CONFLICT', field: 'thread' })
      await stages.stop()
      expect(await search(['gone again'])).toEqual([])
    })

    test('includes a thread that exists only in jobs', async () => {
      await pipeline.queues.add('ingest', ingestJob('queued', 'waiting'))
      expect(await client.threads.delete(threadName('queued'))).toMatchObject({ jobs: 1, removed: {} })
      expect(await search([word('queued', 'waiting'), word('queued', 'name')])).toEqual([])
    })

    test('of an agent removes all its data', async () => {
      const before = await rowsBy(pipeline.databaseUrl, 'agent_id', agentId)
      expect(Object.entries(before).filter(([, count]) => count === 0)).toEqual([])
      // Its request is in the queue, and no worker processes it.
      const asked = 'staysqqasked'
      const building = client.contexts.build({ thread: threadName('stays'), message: asked })
      const refused = expect(building).rejects.toMatchObject({ code: 'NOT_FOUND' })
      await waitFor(async () => (await search([asked])).length > 0, { what: 'the request' })
      await client.agents.delete(AGENT)
      expect(await search([asked])).toEqual([])
      await refused
      const after = await rowsBy(pipeline.databaseUrl, 'agent_id', agentId)
      expect(after).toEqual(all(after, 0))
      expect(await search(wordsOf('stays'))).toEqual([])
      await expect(client.agents.get(AGENT)).rejects.toMatchObject({ code: 'NOT_FOUND' })
      await expect(client.agents.put(AGENT, {})).rejects.toMatchObject({ code: 'CONFLICT', field: 'agent' })
    })

    test('of a project leaves only its tombstone', async () => {
      await client.agents.put('another', { systemPrompt: 'hum' })
      await client.projects.delete()
      const after = await rowsBy(pipeline.databaseUrl, 'project_id', projectId)
      expect(after).toEqual(all(after, 0))
      await expect(client.agents.put('another', {})).rejects.toMatchObject({ code: 'CONFLICT', field: 'project' })
      await expect(client.projects.delete()).resolves.toMatchObject({ kind: 'project' })
    })
  })
})
