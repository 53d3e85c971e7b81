import type { ContextResult } from '@heddle/contracts'
import { waitFor } from '@heddle/test-support'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { validateContext } from '../../support/src/validators/index.js'
import { allStages, openPipeline, type Pipeline } from '../support.js'
import { AGENT, session } from '../tenant.js'

const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString()
const contentsOf = (context: ContextResult) => context.messages.map(({ content }) => String(content))
/** The outcomes in a receipt for each thread: messages shown, summarized, and left out with the reason. */
const accountOf = ({ receipt }: ContextResult) =>
  receipt.entries
    .filter(({ count }) => count > 0)
    .map(({ thread, mode, count, reason }) => ({ thread, mode, count, reason }))

describe('a scoped context', () => {
  let pipeline: Pipeline

  beforeAll(async () => {
    pipeline = await openPipeline()
    await pipeline.start(allStages)
    const { client } = pipeline
    await client.agents.put(AGENT, { systemPrompt: 'You lead.', settings: { rollingWindow: null } })
    await client.agents.put('stranger', {})
    await client.items.put(AGENT, { type: 'rule', name: 'tone', text: 'Be brief.' })
    await client.items.put(AGENT, { type: 'rule', name: 'pay', text: 'Never tell what it costs.' })
    const say = (thread: string, minutes: number, content: string, agent = AGENT) =>
      client.messages.append({ agent, thread, messages: [{ role: 'user', content, sentAt: minutesAgo(minutes) }] })
    await say('main', 300, 'an old plan')
    await say('main', 50, 'why is it slow?')
    await say('research', 40, 'the index is missing')
    await say('main', 30, 'then add it')
    await say('private', 20, 'a secret')
    await say('foreign', 20, 'of another agent', 'stranger')
    await client.threads.put('private', { agent: AGENT, status: 'keeps a secret' })
    await client.threads.put('research', { agent: AGENT, status: 'measures' })
  })
  afterAll(() => pipeline?.close())

  test('shows the threads that it names as one conversation, and nothing of the others', async () => {
    const request = { thread: 'main', scope: { threads: ['main', 'research'], since: '2h' } }
    const context = await pipeline.client.contexts.build({ ...request, format: 'anthropic' })
    expect(validateContext(context)).toEqual([])
    const text = JSON.stringify(context)
    expect(text).not.toContain('secret')
    expect(text).toContain('measures')
    const neutral = await pipeline.client.contexts.build(request)
    expect(contentsOf(neutral).filter((content) => content.startsWith('[thread "'))).toEqual([
      '[thread "main"]\nwhy is it slow?',
      '[thread "research"]\nthe index is missing',
      '[thread "main"]\nthen add it',
    ])
    expect(accountOf(neutral)).toContainEqual({
      thread: 'main',
      mode: 'left-out',
      count: 1,
      reason: `outside of the scope: before ${neutral.receipt.scope?.since}`,
    })
    expect(neutral.receipt.eligible).toBe(4)
    expect(neutral.receipt.scope?.threads).toEqual(['main', 'research'])
  })

  test('shows the items that it names, and counts the items left out', async () => {
    const build = (items: boolean | string[]) => pipeline.client.contexts.build({ thread: 'main', scope: { items } })
    const some = await build(['rule/tone'])
    expect(contentsOf(some)).toContain('Rule: Be brief.')
    expect(JSON.stringify(some)).not.toContain('costs')
    expect(some.receipt.entries).toContainEqual(expect.objectContaining({ reason: 'outside of the scope: 1 items' }))
    expect(JSON.stringify((await build(false)).messages)).not.toContain('Rule:')
    expect((await build(true)).items).toHaveLength(2)
    await expect(build(['rule/tune'])).rejects.toMatchObject({ code: 'NOT_FOUND', field: 'scope.items' })
  })

  test('of a thread of another agent, or of a missing thread, is refused with the field', async () => {
    for (const name of ['foreign', 'nowhere']) {
      const building = pipeline.client.contexts.build({ thread: 'main', scope: { threads: ['main', name] } })
      await expect(building).rejects.toMatchObject({ code: 'NOT_FOUND', field: 'scope.threads.1', received: name })
    }
  })

  test('of a compacted thread shows its summary, and counts the covered messages', async () => {
    const { client } = pipeline
    const messages = session('compacted', 90).map(({ message }) => message)
    await client.threads.put('long', { agent: AGENT, settings: { budget: 3_000 } })
    await client.messages.append({ agent: AGENT, thread: 'long', messages })
    await client.threads.waitUntilSettled('long', { deadlineMs: 60_000 })
    const context = await client.contexts.build({ thread: 'main', budget: 6_000, scope: { threads: ['long'] } })
    const account = accountOf(context)
    const countOf = (named: string) =>
      account.filter(({ thread }) => thread === named).reduce((sum, { count }) => sum + count, 0)
    expect(countOf('long')).toBe(messages.length)
    expect(account).toContainEqual(expect.objectContaining({ thread: 'main', mode: 'left-out', count: 3 }))
    expect(account.some(({ thread, mode, count }) => thread === 'long' && mode === 'covered' && count > 20)).toBe(true)
    expect(context.tokensUsed).toBeLessThanOrEqual(6_000)
    // The background's compaction by the settings of that thread is used for any budget.
    expect(contentsOf(context).some((content) => content.includes('<earlier-conversation'))).toBe(true)
  })

  test('shows summaries of messages within its scope, and no summary of messages outside of it', async () => {
    const { client } = pipeline
    const messages = session('since', 90).map(({ message }) => message)
    await client.threads.put('told', { agent: AGENT, settings: { budget: 3_000 } })
    await client.messages.append({ agent: AGENT, thread: 'told', messages })
    await client.threads.waitUntilSettled('told', { deadlineMs: 60_000 })
    const build = (since: string | undefined, budget: number) =>
      client.contexts.build({ thread: 'told', budget, ...(since !== undefined && { scope: { since } }) })
    const plain = await build(undefined, 3_000)
    expect(plain.receipt.stateId).not.toBeNull()
    const whole = await build(messages[0]?.sentAt, 3_000)
    expect(whole.messages).toEqual(plain.messages)
    expect(whole.receipt).toMatchObject({ stateId: plain.receipt.stateId, notes: plain.receipt.notes })
    const part = await build(messages[8]?.sentAt, 3_000)
    expect(part.receipt.stateId).toBeNull()
    expect(part.receipt.notes).toContain(
      'compacted only for this request, with the extractive summary: no published compaction covers only the scope',
    )
    expect(JSON.stringify(part.messages)).not.toContain('part 0;')
  })

  test('recalls messages of other threads within its scope, and nothing when recall is off', async () => {
    const { client } = pipeline
    await client.agents.put(AGENT, { settings: { rollingWindow: null, search: { memories: { enabled: true } } } })
    const build = (scope?: object) =>
      client.contexts.build({ thread: 'main', message: 'which index is missing?', ...(scope && { scope }) })
    const recalled = async (scope?: object) =>
      (await build(scope)).receipt.entries
        .filter(({ section, mode }) => section === 'memories' && mode !== 'left-out')
        .map(({ memory }) => memory?.thread)
    await expect.poll(() => recalled(), { timeout: 20_000 }).toContain('research')
    expect(await recalled({ items: false })).toContain('research')
    expect(await recalled({ threads: ['main', 'private'] })).not.toContain('research')
    expect(await recalled({ memories: false })).toEqual([])
    expect((await build({ memories: false })).receipt.notes).toContain('memories are outside of the scope')
    await client.agents.put(AGENT, { settings: { rollingWindow: null } })
    expect(await recalled({ memories: true })).toContain('research')
  })

  test('is rebuilt byte for byte without its delivered bytes, and erased with each thread that it shows', async () => {
    const { client } = pipeline
    const sql = postgres(pipeline.databaseUrl, { max: 1, onnotice: () => {} })
    try {
      const request = { thread: 'main', scope: { threads: ['research', 'gone'] } }
      await client.messages.append({
        agent: AGENT,
        thread: 'gone',
        messages: [{ role: 'user', content: 'to be erased' }],
      })
      const [context, again] = [await client.contexts.build(request), await client.contexts.build(request)]
      await sql`delete from heddle.context_deliveries where context_id = any(${[context.id, again.id]}::uuid[])`
      expect(JSON.stringify(await client.contexts.get(context.id))).toBe(JSON.stringify(context))
      expect(JSON.stringify(await client.contexts.get(again.id))).toBe(JSON.stringify(again))
      const at = new Date().toISOString()
      await waitFor(() => Promise.resolve(Date.now() > Date.parse(at)))
      expect((await client.contexts.build({ ...request, at })).id).toBe(again.id)
      await client.threads.delete('gone')
      await expect(client.contexts.get(context.id)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    } finally {
      await sql.end()
    }
  })
})
