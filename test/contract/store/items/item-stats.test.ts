import type { ContextResult, IncludeMode, MessageInput } from '@heddle/contracts'
import { itemIdOf, threadIdOf } from '@heddle/core'
import { embed } from '@heddle/embed'
import { createClient } from '@heddle/engine'
import { createHashingEmbedder } from '@heddle/models'
import { finishContext, loadItemStats, removeExpired, requestContext } from '@heddle/store'
import { describe, expect, test } from 'vitest'
import { agentTarget, asOwner, erase, threadTarget } from '../erasure/erasure-support.js'
import { append, appendOne, newId, OTHER_PROJECT, PROJECT, prepared, storeOfTests } from '../support.js'

const database = storeOfTests()

interface Shown {
  readonly name: string
  readonly mode?: IncludeMode
  readonly score?: number
  readonly tokens?: number
}

let names = 0

/** A new agent with a rule `login`, a reference `codes` and a tool `read`, and a thread of it. */
async function freshAgent(project = 'store tests', projectId = PROJECT) {
  const { store } = database
  const client = createClient({ store, queues: null, project })
  const agent = `counted ${++names}`
  const own = `${agent} run`
  await client.items.put(agent, { type: 'rule', name: 'login', text: 'Send the bearer token in a header.' })
  await client.items.put(agent, {
    type: 'reference',
    name: 'codes',
    text: 'Failures have stable codes.',
    include: 'agent',
  })
  await client.items.put(agent, { type: 'tool', name: 'read', serverName: 'files', include: 'agent' })
  await client.threads.put(own, { agent })
  const ids = new Map<string, { itemId: string; version: number }>()
  for (const { name, itemId, version } of (await client.items.list(agent)).items) ids.set(name, { itemId, version })

  const build = async (shown: readonly Shown[], message = 'What now?', thread = own) => {
    const id = newId()
    const threadId = threadIdOf(projectId, thread)
    const entries = shown.map(({ name, mode = 'always', score, tokens = 10 }) => ({
      section: 'x',
      mode: 'raw' as const,
      count: 0,
      tokens,
      reason: 'x',
      item: {
        type: 'rule' as const,
        name,
        includeMode: mode,
        ...(score !== undefined && { similarityScore: score }),
        ...(ids.get(name) ?? { itemId: newId(), version: 1 }),
      },
    }))
    const leftOut = entries.map((entry) => ({ ...entry, mode: 'left-out' as const }))
    const result = { id, budget: 1, tokensUsed: 1, summaryUsed: false, receipt: { entries: [...entries, ...leftOut] } }
    await store.inProject(projectId, async (tx) => {
      await requestContext(tx, { id, threadId, request: { thread, message }, deadlineAtMs: Date.now() })
      const built = result as unknown as ContextResult
      await finishContext(tx, {
        id,
        result: { ...built, receipt: { ...built.receipt, sections: [], stateId: null, agentVersion: 1, headSeq: 0 } },
      })
    })
    return id
  }
  const say = (messages: readonly Partial<MessageInput>[], thread = own) =>
    appendOne(
      store,
      append(
        messages.map((fields, ordinal) => prepared({ role: 'assistant', ...fields }, { ordinal })),
        { agent, thread },
      ),
      projectId,
    )
  const read = (thread = own) =>
    embed(
      {
        payload: { projectId, threadId: threadIdOf(projectId, thread) },
        jobId: newId(),
        attempt: 1,
        attemptsMax: 5,
        signal: new AbortController().signal,
      },
      { store, embedder: createHashingEmbedder(), settings: {}, log: { info: () => {} }, clock: { nowMs: () => 0 } },
    )
  const stats = (options = {}) => client.items.stats(agent, options)
  const used = async () => Object.fromEntries((await stats()).items.map((item) => [item.name, item.used]))
  return {
    client,
    agent,
    thread: own,
    build,
    say,
    read,
    stats,
    used,
    idOf: (name: string) => ids.get(name)?.itemId ?? '',
  }
}

const call = (name: string) => ({ toolCalls: [{ id: newId(), name, arguments: {} }] })

describe('the statistics of items', () => {
  test('count how often contexts showed them, the reason, score and cost, and whether replies used them', async () => {
    const { build, say, read, stats } = await freshAgent()
    const first = await build([
      { name: 'login', tokens: 7 },
      { name: 'read', mode: 'agent', score: 0.5, tokens: 30 },
    ])
    await build([
      { name: 'login', mode: 'manual', tokens: 8 },
      { name: 'read', mode: 'agent', score: 0.7, tokens: 30 },
    ])
    await say([
      { role: 'user', content: 'What now?' },
      { content: 'I look.', contextId: first, ...call('read') },
    ])
    await read()
    const { items, ...totals } = await stats()
    expect(totals).toMatchObject({ contexts: 2, answered: 1, threads: 1, isCut: false })
    expect(items).toMatchObject([
      {
        type: 'tool',
        name: 'read',
        serverName: 'files',
        contexts: 2,
        byMode: { always: 0, manual: 0, agent: 2 },
        answered: 1,
        used: 1,
        meanScore: 0.6,
        tokens: 60,
        meanTokens: 30,
      },
      {
        type: 'rule',
        name: 'login',
        includeMode: 'always',
        contexts: 2,
        byMode: { always: 1, manual: 1, agent: 0 },
        answered: 1,
        used: 0,
        meanScore: null,
        tokens: 15,
      },
      { type: 'reference', name: 'codes', contexts: 0, tokens: 0, meanTokens: 0, lastShownAt: null, suggestion: null },
    ])
    expect(items[0]?.lastUsedAt).not.toBeNull()
  })

  test('follow the reply through its turn, and do not depend on how many messages were read at once', async () => {
    const [whole, pieces] = [await freshAgent(), await freshAgent()]
    for (const agent of [whole, pieces]) {
      const [first, second] = [
        await agent.build([{ name: 'read' }, { name: 'login' }]),
        await agent.build([{ name: 'codes' }]),
      ]
      const turn: Partial<MessageInput>[] = [
        { role: 'user', content: 'What now?' },
        { content: 'I look.', contextId: first, ...call('other') },
        { role: 'tool_result', content: 'found', toolCallId: 'x' },
        { content: 'Again.', ...call('files__read') },
        { content: 'The codes are stable.', contextId: second },
        { content: 'Send the bearer token.' },
        { role: 'user', content: 'Thanks.' },
        { content: 'Put the bearer token in the header.' },
      ]
      for (const part of agent === whole ? [turn] : turn.map((message) => [message])) {
        await agent.say(part)
        if (agent === pieces) await agent.read()
      }
      await agent.read()
    }
    expect(await whole.used()).toEqual({ read: 1, login: 0, codes: 1 })
    expect(await pieces.used()).toEqual(await whole.used())
  })

  test('stay the same when the stage reads the messages again', async () => {
    const { build, say, read, used, stats, thread } = await freshAgent()
    const id = await build([{ name: 'login' }])
    await say([{ content: 'Send the bearer token.', contextId: id }])
    await read()
    const before = await stats()
    await database.store.inProject(
      PROJECT,
      (tx) => tx`update heddle.stage_cursors set embed_seq = 0 where thread_id = ${threadIdOf(PROJECT, thread)}`,
    )
    await read()
    expect(await used()).toMatchObject({ login: 1 })
    expect(await stats()).toEqual(before)
  })

  test('ignore missing contexts, contexts of another thread, and characters that a text cannot hold', async () => {
    const [own, other] = [await freshAgent(), await freshAgent()]
    const [foreign, odd] = [await other.build([{ name: 'login' }]), await own.build([{ name: 'login' }], 'NUL \0')]
    await own.say([
      { content: 'Send the bearer token.', contextId: newId() },
      { content: 'Send the bearer token.', contextId: foreign },
      { content: 'Send the bearer token. \0', contextId: odd },
    ])
    await own.read()
    expect(await own.used()).toMatchObject({ login: 1 })
    expect(await other.used()).toMatchObject({ login: 0 })
  })

  test('cover the requested time, and removed items for as long as a context shows them', async () => {
    const { client, agent, build, stats } = await freshAgent()
    const old = await build([{ name: 'codes' }])
    await database.store.inProject(
      PROJECT,
      (tx) => tx`update heddle.context_items set built_at = now() - interval '8 days' where context_id = ${old}`,
    )
    await build([{ name: 'login' }])
    await client.items.remove(agent, { type: 'rule', name: 'login' })
    await client.items.remove(agent, { type: 'reference', name: 'codes' })
    const week = await stats({ since: '7d' })
    expect(week.contexts).toBe(1)
    expect(week.items.map(({ name, includeMode }) => [name, includeMode])).toEqual([
      ['login', null],
      ['read', 'agent'],
    ])
    expect((await stats()).contexts).toBe(2)
    await expect(stats({ since: 'once' })).rejects.toMatchObject({ code: 'VALIDATION_ERROR' })
    await expect(client.items.stats('nobody')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  test('say which items to drop, to show always, and to select', async () => {
    const { build, say, read, stats } = await freshAgent()
    for (let count = 0; count < 20; count++) {
      const id = await build([{ name: 'login' }, { name: 'read', mode: 'agent' }])
      await say([
        { role: 'user', content: 'Next.' },
        { content: count === 0 ? 'Send the bearer token.' : '', contextId: id, ...call('read') },
      ])
    }
    await read()
    expect(Object.fromEntries((await stats()).items.map(({ name, suggestion }) => [name, suggestion]))).toEqual({
      login: { action: 'agent', reason: '1 of 20 replies used it' },
      read: { action: 'always', reason: 'selected for 20 of 20 contexts, used by 20 of 20 replies' },
      codes: { action: 'drop', reason: 'in none of the 20 contexts since it was made' },
    })
  })
})

describe('the figures of items', () => {
  test('outlive their contexts, and are removed after their own retention', async () => {
    const { build, stats } = await freshAgent()
    await build([{ name: 'login' }])
    const all = { beforeMs: Date.now() + 60_000, limit: 1_000 }
    expect(await removeExpired(database.store, { kind: 'contexts', ...all })).toBeGreaterThan(0)
    expect(await stats()).toMatchObject({ contexts: 1 })
    expect(await removeExpired(database.store, { kind: 'contextItems', ...all })).toBeGreaterThan(0)
    expect(await stats()).toMatchObject({ contexts: 0, from: null })
  })

  test('are erased with their thread and with their agent', async () => {
    for (const kind of ['thread', 'agent'] as const) {
      const { agent, thread, build, idOf } = await freshAgent()
      await build([{ name: 'login' }])
      const count = async () =>
        await asOwner(
          database.url,
          (sql) => sql`select from heddle.context_items where ${idOf('login')} = any(item_ids)`,
        )
      expect(await count()).toHaveLength(1)
      const threadId = threadIdOf(PROJECT, thread)
      const [row] = await asOwner(
        database.url,
        (sql) => sql`select agent_id from heddle.threads where id = ${threadId}`,
      )
      await erase(
        database.store,
        kind === 'thread' ? threadTarget({ threadId }) : agentTarget({ agentId: row?.['agent_id'] }),
      )
      expect(await count(), `${kind} of ${agent}`).toEqual([])
    }
  })

  test('of another project are not visible', async () => {
    const foreign = await freshAgent('other store tests', OTHER_PROJECT)
    await foreign.build([{ name: 'login' }])
    expect((await foreign.stats()).contexts).toBe(1)
    await database.store.inProject(PROJECT, async (tx) => {
      expect(await tx`select from heddle.context_items where ${foreign.idOf('login')} = any(item_ids)`).toEqual([])
    })
  })

  test('are read by an index, and only of the newest contexts', async () => {
    const { client, agent, build } = await freshAgent()
    await build([{ name: 'login' }])
    const { itemId } = await client.items.get(agent, { type: 'rule', name: 'login' })
    await database.store.inProject(PROJECT, async (tx) => {
      const [row] = await tx<{ agentId: string }[]>`select agent_id from heddle.items where id = ${itemId}`
      const agentId = row?.agentId ?? ''
      expect(itemId).toBe(itemIdOf(agentId, { type: 'rule', name: 'login' }))
      await tx`
        insert into heddle.context_items (context_id, thread_id, agent_id, built_at, item_ids, versions, modes, scores, tokens)
        select gen_random_uuid(), thread_id, agent_id, built_at - number * interval '1 second', item_ids, versions, modes, scores, tokens
        from heddle.context_items, generate_series(1, 11000) as number
        where agent_id = ${agentId}`
      const plan = await tx`
        explain select * from heddle.context_items where agent_id = ${agentId} order by built_at desc limit 10000`
      expect(JSON.stringify(plan)).toContain('context_items_newest')
      expect(JSON.stringify(plan)).not.toContain('Sort')
      const { totals, rows } = await loadItemStats(tx, { agentId, sinceMs: null })
      expect(totals.contexts).toBe(10_000)
      expect(rows.find((one) => one.itemId === itemId)).toMatchObject({
        contexts: 10_000,
        contextsSince: expect.any(Number),
      })
    })
  })
})
