import { threadIdOf } from '@heddle/core'
import {
  appendMessages,
  beginErasure,
  beginMessageErasure,
  compareThreads,
  forkThread,
  listHistory,
  loadMessage,
  loadThread,
  loadUncovered,
  type NewFork,
  type Store,
} from '@heddle/store'
import { describe, expect, it } from 'vitest'
import { append, appendOne, newId, PROJECT, prepared, RECEIVED_AT_MS, storeOfTests } from '../support.js'

const database = storeOfTests()

function fork(origin: string, name: string, fields: Partial<NewFork> = {}) {
  return database.store.inProject(PROJECT, (tx) =>
    forkThread(tx, { projectId: PROJECT, origin, name, atSeq: null, ...fields }),
  )
}

/** Appends messages with these texts, a second apart. */
async function say(thread: string, texts: readonly string[], fromMs = 0) {
  const messages = texts.map((content, index) =>
    prepared(
      { content, role: index % 2 === 0 ? 'user' : 'assistant' },
      { orderedAtMs: RECEIVED_AT_MS + fromMs + index },
    ),
  )
  await appendOne(database.store, append(messages, { thread }))
  return messages.map(({ input }) => input.id)
}

async function textsOf(thread: string, store: Store = database.store): Promise<string[]> {
  const threadId = threadIdOf(PROJECT, thread)
  const page = await store.inProject(PROJECT, (tx) => listHistory(tx, { threadId, limit: 100, order: 'asc' }))
  return page?.messages.map(({ content }) => content) ?? []
}

describe('a fork', () => {
  it('shows the messages up to its moment, and its own; its origin shows only its own', async () => {
    await say('origin', ['one', 'two', 'three', 'four'])
    await expect(fork('origin', 'branch', { atSeq: 2 })).resolves.toMatchObject({ atSeq: 2, isNew: true })
    await say('branch', ['other three'], 10)
    await say('origin', ['five'], 20)
    expect(await textsOf('branch')).toEqual(['one', 'two', 'other three'])
    expect(await textsOf('origin')).toEqual(['one', 'two', 'three', 'four', 'five'])
    const thread = await database.store.inProject(PROJECT, (tx) =>
      loadThread(tx, { threadId: threadIdOf(PROJECT, 'branch') }),
    )
    expect(thread).toMatchObject({ headSeq: 3, sharedSeq: 2, embedSeq: 2 })
  })

  it('of a fork shares with both, also where the moment is before that of the first', async () => {
    await fork('branch', 'twig')
    await say('twig', ['leaf'], 30)
    await fork('twig', 'early', { atSeq: 1 })
    expect(await textsOf('twig')).toEqual(['one', 'two', 'other three', 'leaf'])
    expect(await textsOf('early')).toEqual(['one'])
  })

  it('is read by a statement that does not know its lineage yet', async () => {
    const threadId = threadIdOf(PROJECT, 'twig')
    const found = await database.store.inProject(PROJECT, async (tx) => {
      const unknowing = new Proxy(tx, {
        get: (target, key) => (typeof key === 'symbol' ? undefined : Reflect.get(target, key)),
      })
      return await loadUncovered(unknowing, { threadId, clearedSeq: 0, state: null, keep: 'oldest', limit: 3 })
    })
    expect(found.messages.map(({ content }) => content).sort()).toEqual(['one', 'other three', 'two'])
    expect(found.hasMore).toBe(true)
  })

  it('is the same fork when it is requested again, and no other under the name of a thread', async () => {
    await expect(fork('origin', 'branch', { atSeq: 2 })).resolves.toMatchObject({ isNew: false })
    await expect(fork('origin', 'branch', { atSeq: 1 })).rejects.toMatchObject({ code: 'CONFLICT' })
    await expect(fork('twig', 'origin')).rejects.toMatchObject({ code: 'CONFLICT' })
    await expect(fork('origin', 'later', { atSeq: 99 })).rejects.toMatchObject({ code: 'VALIDATION_ERROR' })
    await expect(fork('nothing', 'later')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  it('takes a shared message that is sent to it for a repeat, and another message under its id for a conflict', async () => {
    await say('repeated', ['a'])
    const message = prepared({ content: 'b' }, { ordinal: 1 })
    await appendOne(database.store, append([message], { thread: 'repeated' }))
    await fork('repeated', 'repeating')
    for (const assumeNew of [false, true]) {
      const [outcome] = await database.store.inProject(PROJECT, (tx) =>
        appendMessages(tx, {
          projectId: PROJECT,

          appends: [append([message], { thread: 'repeating' })],
          assumeNew,
        }),
      )
      expect(outcome).toMatchObject({ stored: 0, repeated: 1, error: null })
    }
    const other = prepared({ id: message.input.id, content: 'c' })
    const [refused] = await database.store.inProject(PROJECT, (tx) =>
      appendMessages(tx, {
        projectId: PROJECT,

        appends: [append([other], { thread: 'repeating' })],
      }),
    )
    expect(refused?.error).toMatchObject({ code: 'CONFLICT' })
    expect(await textsOf('repeating')).toEqual(['a', 'b'])
  })

  it('and its origin are compared by what they share', async () => {
    const compare = async (one: string, other: string) =>
      await database.store.inProject(PROJECT, async (tx) => {
        const [left, right] = await Promise.all(
          [one, other].map((name) => loadThread(tx, { threadId: threadIdOf(PROJECT, name) })),
        )
        if (!left || !right) throw new Error('no such thread')
        return await compareThreads(tx, left, right)
      })
    expect(await compare('origin', 'branch')).toMatchObject({ commonSeq: 2, common: 2, after: [3, 1] })
    expect(await compare('twig', 'branch')).toMatchObject({ commonSeq: 3, common: 3, after: [1, 0] })
    expect(await compare('twig', 'early')).toMatchObject({ commonSeq: 1, common: 1, after: [3, 0] })
    expect(await compare('origin', 'repeated')).toMatchObject({ commonSeq: 0, common: 0, code: null })
  })
})

describe('an erasure', () => {
  it('of a thread is refused while forks share its messages; that of a fork leaves its origin', async () => {
    const begin = (thread: string, reuse = false) =>
      database.store.inProject(PROJECT, (tx) =>
        beginErasure(tx, { kind: 'thread', targetId: threadIdOf(PROJECT, thread) }, { reuse }),
      )
    await say('held', ['a', 'b'])
    await fork('held', 'holding')
    await expect(begin('held')).rejects.toMatchObject({ code: 'CONFLICT', facts: { forks: ['holding'] } })
    await expect(begin('holding', true)).rejects.toMatchObject({ code: 'CONFLICT', field: 'reuse' })
    await expect(begin('holding')).resolves.toBe(true)
    expect(await textsOf('held')).toEqual(['a', 'b'])
    await expect(begin('held')).resolves.toBe(true)
  })

  it('of messages takes them from all forks, and is refused in a fork that only shares them', async () => {
    const erase = (thread: string, messageId: string) =>
      database.store.inProject(PROJECT, (tx) =>
        beginMessageErasure(tx, { erasureId: newId(), threadId: threadIdOf(PROJECT, thread), range: { messageId } }),
      )
    const [, secret = ''] = await say('telling', ['a', 'the secret', 'c'])
    await fork('telling', 'told')
    const [own = ''] = await say('told', ['own'], 40)
    await fork('told', 'told again')
    await expect(erase('told', secret)).rejects.toMatchObject({ code: 'CONFLICT' })
    await expect(erase('telling', secret)).resolves.toMatchObject({
      erased: 1,
      forkIds: expect.arrayContaining([threadIdOf(PROJECT, 'told'), threadIdOf(PROJECT, 'told again')]),
    })
    for (const thread of ['telling', 'told', 'told again']) {
      expect(await textsOf(thread)).not.toContain('the secret')
      const row = await database.store.inProject(PROJECT, (tx) =>
        loadThread(tx, { threadId: threadIdOf(PROJECT, thread) }),
      )
      expect(row?.erasedCount).toBe(1)
    }
    await expect(erase('told', own)).resolves.toMatchObject({ erased: 1, forkIds: [threadIdOf(PROJECT, 'told again')] })
    const found = await database.store.inProject(PROJECT, (tx) =>
      loadMessage(tx, { threadId: threadIdOf(PROJECT, 'told again'), id: own }),
    )
    expect(found?.content).toBe('')
    expect(await textsOf('telling')).toEqual(['a', '', 'c'])
  })
})
