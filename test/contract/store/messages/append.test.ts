import { agentIdOf, projectIdOf, shortCode, threadIdOf } from '@heddle/core'
import {
  appendMessages,
  ensureThread,
  isRepeat,
  listMessages,
  loadAgent,
  loadMessagesBySeq,
  loadThread,
  type PreparedMessage,
  type Tx,
} from '@heddle/store'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { append, appendAll, appendOne, newId, PROJECT, prepared, RECEIVED_AT_MS, storeOfTests } from '../support.js'

const database = storeOfTests()

const history = (threadId: string, projectId = PROJECT) =>
  database.store.inProject(projectId, (tx) => listMessages(tx, { threadId, afterSeq: 0, limit: 1_000 }))

let threads = 0
const freshThread = () => `thread ${++threads}`

describe('appendMessages', () => {
  it('creates the project, the agent and the thread if they are missing', async () => {
    const projectId = projectIdOf('made by its first message')
    const outcome = await appendOne(
      database.store,
      append([prepared()], { agent: 'fresh', thread: 'first', newAgentRollingWindow: null }),
      projectId,
    )
    expect(outcome).toMatchObject({
      threadId: threadIdOf(projectId, 'first'),
      stored: 1,
      repeated: 0,
      fromSeq: 1,
      headSeq: 1,
    })
    await database.store.inProject(projectId, async (tx) => {
      expect(await loadThread(tx, outcome)).toMatchObject({
        name: 'first',
        code: shortCode(outcome.threadId),
        projectName: projectId,
        agentId: agentIdOf(projectId, 'fresh'),
        agentVersion: 1,
        agentSettings: { rollingWindow: null },
        clearedSeq: 0,
        headSeq: 1,
      })
      expect(await loadAgent(tx, { name: 'fresh' })).toMatchObject({ version: 1, settings: { rollingWindow: null } })
    })
  })

  it('does not change the settings of an existing agent', async () => {
    const thread = freshThread()
    await appendOne(database.store, append([prepared()], { agent: 'kept', thread }))
    await appendOne(
      database.store,
      append([prepared()], { agent: 'kept', thread: freshThread(), newAgentRollingWindow: null }),
    )
    const agent = await database.store.inProject(PROJECT, (tx) => loadAgent(tx, { name: 'kept' }))
    expect(agent).toMatchObject({ version: 1, settings: {} })
  })

  it('stores a repeat once, whether it comes alone, with others, or twice in one batch', async () => {
    const thread = freshThread()
    const [first, second] = [prepared({ content: 'one' }), prepared({ content: 'two' })]
    await appendOne(database.store, append([first], { thread }))
    expect(await appendOne(database.store, append([first], { thread }))).toMatchObject({
      stored: 0,
      repeated: 1,
      fromSeq: 2,
      headSeq: 1,
    })
    const outcomes = await appendAll(database.store, [
      append([first, second], { thread }),
      append([second], { thread }),
    ])
    expect(outcomes.map(({ stored, repeated }) => [stored, repeated])).toEqual([
      [1, 1],
      [0, 1],
    ])
    expect((await history(threadIdOf(PROJECT, thread))).map(({ content, seq }) => [content, seq])).toEqual([
      ['one', 1],
      ['two', 2],
    ])
  })

  it('refuses an append that reuses an id of its thread for another message, and stores the other appends', async () => {
    const thread = freshThread()
    const used = prepared({ content: 'as it was' })
    await appendOne(database.store, append([used], { thread }))
    const changed = prepared({ id: used.input.id, content: 'changed' })
    const other = freshThread()
    const outcomes = await appendAll(database.store, [
      append([prepared(), changed], { thread }),
      append([used], { thread: other }),
      append([prepared({ content: 'stored all the same' })], { thread }),
    ])
    expect(outcomes.map(({ error }) => [error?.code, error?.field])).toEqual([
      ['CONFLICT', 'messages.1.id'],
      [undefined, undefined],
      [undefined, undefined],
    ])
    expect((await history(threadIdOf(PROJECT, thread))).map(({ content }) => content)).toEqual([
      'as it was',
      'stored all the same',
    ])
    // The id is the key within a thread: a copy of a conversation keeps the ids of the original.
    expect((await history(threadIdOf(PROJECT, other))).map(({ content }) => content)).toEqual(['as it was'])
  })

  it('reports a stored message that was assumed to be new, stores nothing then, and succeeds with a look-up', async () => {
    const thread = freshThread()
    const [first, second] = [prepared({ content: 'one' }), prepared({ content: 'two' })]
    const attempt = (messages: PreparedMessage[], assumeNew: boolean) =>
      database.store.inProject(PROJECT, (tx) =>
        appendMessages(tx, { projectId: PROJECT, appends: [append(messages, { thread })], assumeNew }),
      )
    expect(await attempt([first], true)).toMatchObject([{ stored: 1, error: null }])
    const error = await attempt([second, first], true).catch((thrown: unknown) => thrown)
    expect(isRepeat(error)).toBe(true)
    expect(isRepeat(new Error('anything else'))).toBe(false)
    expect((await history(threadIdOf(PROJECT, thread))).map(({ content }) => content)).toEqual(['one'])
    expect(await attempt([second, first], false)).toMatchObject([{ stored: 1, repeated: 1, error: null }])
  })

  it('refuses a thread that belongs to another agent', async () => {
    const thread = freshThread()
    await appendOne(database.store, append([prepared()], { thread, agent: 'owner' }))
    const outcomes = await appendAll(database.store, [append([prepared()], { thread, agent: 'stranger' })])
    expect(outcomes[0]?.error).toMatchObject({ code: 'CONFLICT', field: 'agent' })
    expect(await database.store.inProject(PROJECT, (tx) => loadAgent(tx, { name: 'stranger' }))).toBeNull()

    const contested = freshThread()
    const both = await appendAll(database.store, [
      append([prepared()], { thread: contested, agent: 'owner' }),
      append([prepared()], { thread: contested, agent: 'stranger' }),
    ])
    expect(both.map(({ error }) => error?.code ?? null)).toEqual([null, 'CONFLICT'])
  })

  it('refuses an append to an erased thread and stores the rest of the batch', async () => {
    const [erased, open] = [freshThread(), freshThread()]
    await database.store.inProject(
      PROJECT,
      (tx) => tx`insert into heddle.tombstones (target_id, kind) values (${threadIdOf(PROJECT, erased)}, 'thread')`,
    )
    const outcomes = await appendAll(database.store, [
      append([prepared()], { thread: erased }),
      append([prepared()], { thread: open }),
    ])
    expect(outcomes.map(({ error }) => error?.code ?? null)).toEqual(['CONFLICT', null])
    expect(outcomes[0]?.error?.detail).toContain('erased')
    const made = await database.store.inProject(PROJECT, (tx) =>
      loadThread(tx, { threadId: threadIdOf(PROJECT, erased) }),
    )
    expect(made).toBeNull()
    await expect(
      database.store.inProject(PROJECT, (tx) =>
        ensureThread(tx, { projectId: PROJECT, agent: 'weaver', thread: erased }),
      ),
    ).rejects.toMatchObject({ name: 'ConflictError' })
  })

  it('stores every field unchanged, to the byte', async () => {
    const thread = freshThread()
    const awkward = 'NUL \0, half of an emoji \ud83d, line\nbreaks, "quotes", \\u0000 spelled out, ü, 😀'
    const message = prepared({
      role: 'assistant',
      content: awkward,
      thinking: [{ text: awkward, signature: 'sig\0' }],
      toolCalls: [
        { id: 'call\0', name: 'Read', arguments: { path: awkward, nested: { z: 1, a: [null, true, 1.5e300] } } },
        { id: 'call2', name: 'Bash', arguments: '{"broken": \ud800' },
      ],
      sourceId: 'source 1',
      sentAt: '2026-02-12T15:30:00.123+01:00',
      model: 'some-model',
      usage: { input_tokens: 12, details: { cached: 3 } },
      contextId: newId(),
      pinned: true,
      metadata: { [awkward]: awkward },
    })
    const result = prepared({ role: 'tool_result', toolCallId: 'call2', toolName: 'Bash', isError: true, content: '' })
    const aside = prepared({ content: 'a summary', keptAside: 'compact-summary' })
    const { threadId } = await appendOne(database.store, append([message, result, aside], { thread }))
    const [first, second, third] = await history(threadId)
    const { sentAt: _, ...given } = message.input
    expect(first).toMatchObject({
      ...given,
      sentAtMs: Date.parse('2026-02-12T14:30:00.123Z'),
    })
    expect(JSON.stringify(first?.toolCalls)).toBe(JSON.stringify(given.toolCalls))
    expect(second).toMatchObject({
      toolCallId: 'call2',
      toolName: 'Bash',
      isError: true,
      content: '',
      toolCalls: [],
      thinking: [],
    })
    expect(third).toMatchObject({
      keptAside: 'compact-summary',
      pinned: false,
      sourceId: null,
      metadata: null,
      usage: null,
    })
  })

  it('reads the folder of a command, whatever else the metadata hold', async () => {
    const thread = freshThread()
    const cwd = '/home/"me"/a\\b/\ud83d\0'
    const metadata = { before: 'half \ud83d \0', cwd, after: { 'nul \0': '"cwd":"other"' } }
    const messages = [prepared({ metadata }), prepared({ metadata: { cwd: 7 } }), prepared()]
    const { threadId } = await appendOne(database.store, append(messages, { thread }))
    expect((await history(threadId)).map((message) => message.cwd)).toEqual([cwd, undefined, undefined])
  })

  it('refuses NUL in a source id as an outcome', async () => {
    const outcomes = await appendAll(database.store, [
      append([prepared({ sourceId: 'a\0b' })], { thread: freshThread() }),
    ])
    expect(outcomes[0]?.error).toMatchObject({ code: 'VALIDATION_ERROR', field: 'messages.0.sourceId' })
  })

  it('assigns a longer short code to a message whose code is taken', async () => {
    const thread = freshThread()
    const { threadId } = await appendOne(database.store, append([prepared()], { thread }))
    const [first, second, third] = [prepared(), prepared(), prepared()]
    await database.store.inProject(
      PROJECT,
      (tx) => tx`
        insert into heddle.messages
          (thread_id, seq, id, code, role, content, ordered_at, ordinal, latest_at, received_at, tokens_estimate, fingerprint)
        values (${threadId}, -1, ${newId()}, ${shortCode(second.input.id)}, 'user', '', now(), 0, now(), now(), 0, '')`,
    )
    await appendOne(database.store, append([first, second, third], { thread }))
    const stored = (await history(threadId)).filter(({ seq }) => seq > 1)
    expect(stored.map(({ code }) => code)).toEqual([
      shortCode(first.input.id),
      shortCode(second.input.id, 9),
      shortCode(third.input.id),
    ])
  })

  it('reports a taken short code that was assumed to be free, stores nothing then, and assigns a longer one', async () => {
    const thread = freshThread()
    const { threadId } = await appendOne(database.store, append([prepared()], { thread }))
    const [first, second] = [prepared({ content: 'one' }), prepared({ content: 'two' })]
    const takeCode = (tx: Tx) => tx`
      insert into heddle.messages
        (thread_id, seq, id, code, role, content, ordered_at, ordinal, latest_at, received_at, tokens_estimate, fingerprint)
      values (${threadId}, -1, ${newId()}, ${shortCode(second.input.id)}, 'user', '', now(), 0, now(), now(), 0, '')`
    await database.store.inProject(PROJECT, takeCode)
    const attempt = (assumeFreeCodes: boolean) =>
      database.store.inProject(PROJECT, (tx) =>
        appendMessages(tx, {
          projectId: PROJECT,
          appends: [append([first, second], { thread })],
          assumeFreeCodes,
        }),
      )
    expect(isRepeat(await attempt(true).catch((thrown: unknown) => thrown))).toBe(true)
    expect((await history(threadId)).filter(({ seq }) => seq > 1)).toEqual([])
    expect(await attempt(false)).toMatchObject([{ stored: 2, error: null }])
    expect((await history(threadId)).filter(({ seq }) => seq > 1).map(({ code }) => code)).toEqual([
      shortCode(first.input.id),
      shortCode(second.input.id, 9),
    ])
  })

  it('assigns sequence numbers without gaps to eight writers on the same new threads', async () => {
    const names = [freshThread(), freshThread(), freshThread()]
    const writer = async () => {
      for (let round = 0; round < 10; round++) {
        const appends = [...names]
          .sort(() => Math.random() - 0.5)
          .map((thread) => append([prepared(), prepared(), prepared()], { thread, agent: `of ${names[0]}` }))
        for (const { error } of await appendAll(database.store, appends)) expect(error).toBeNull()
      }
    }
    await Promise.all(Array.from({ length: 8 }, writer))
    for (const name of names) {
      const threadId = threadIdOf(PROJECT, name)
      const seqs = (await history(threadId)).map(({ seq }) => seq)
      expect(seqs).toEqual(Array.from({ length: 240 }, (_, index) => index + 1))
      const thread = await database.store.inProject(PROJECT, (tx) => loadThread(tx, { threadId }))
      expect(thread).toMatchObject({ headSeq: 240, tokensEstimate: 480 })
    }
  })

  it('stores the same messages, whatever their order, batches and repeats', async () => {
    const plan = fc.record({
      count: fc.integer({ min: 1, max: 20 }),
      deliveries: fc.array(fc.array(fc.nat({ max: 19 }), { minLength: 1, maxLength: 8 }), { maxLength: 6 }),
    })
    await fc.assert(
      fc.asyncProperty(plan, async ({ count, deliveries }) => {
        const thread = freshThread()
        const messages = Array.from({ length: count }, (_, index) =>
          prepared({ content: `message ${index}` }, { ordinal: index, orderedAtMs: RECEIVED_AT_MS + (index % 3) }),
        )
        const batches = [...deliveries, messages.map((_, index) => index).reverse()]
        const writers = batches.map((batch) =>
          appendOne(
            database.store,
            append(
              batch.flatMap((index) => messages[index % count] ?? []),
              { thread },
            ),
          ),
        )
        const outcomes = await Promise.all(writers)
        expect(outcomes.reduce((sum, { stored }) => sum + stored, 0)).toBe(count)
        const stored = await database.store.inProject(PROJECT, (tx) =>
          loadMessagesBySeq(tx, { threadId: threadIdOf(PROJECT, thread), afterSeq: 0, limit: 100 }),
        )
        expect(stored.map(({ seq }) => seq)).toEqual(Array.from({ length: count }, (_, index) => index + 1))
        const ids = stored.sort((left, right) => left.ordinal - right.ordinal).map(({ id }) => id)
        expect(ids).toEqual(messages.map(({ input }) => input.id))
      }),
      { numRuns: 25 },
    )
  })

  it('is rolled back as a whole batch when the transaction fails later', async () => {
    const thread = freshThread()
    const failing = database.store.inProject(PROJECT, async (tx) => {
      await appendMessages(tx, {
        projectId: PROJECT,

        appends: [append([prepared()], { thread })],
      })
      throw new Error('before the commit')
    })
    await expect(failing).rejects.toThrow('before the commit')
    expect(await history(threadIdOf(PROJECT, thread))).toEqual([])
  })
})
