import { newId } from '@heddle/client/calls'
import type { NewMessage } from '@heddle/client/interface'
import { threadIdOf } from '@heddle/core'
import { describe, expect, test } from 'vitest'
import { modes, pipelineOfTests } from '../support.js'

const user = (content: string, id?: string): NewMessage => ({ role: 'user', content, ...(id !== undefined && { id }) })
const contentsOf = (page: { items: readonly { content: string }[] }) => page.items.map(({ content }) => content)

describe.each(modes())('direct appends, $title', ({ mode, skip }) => {
  if (skip) return
  const tests = pipelineOfTests(mode)

  test('an append is stored without any worker, and the stages find the thread once they run', async () => {
    const { directClient: client } = tests.pipeline
    const messages = Array.from({ length: 30 }, (_, index) => user(`message ${index}`))
    expect(await client.messages.append({ agent: 'coder', thread: 'alone', messages })).toMatchObject({ stored: 30 })
    expect(contentsOf(await client.messages.list({ thread: 'alone' }))).toEqual(messages.map(({ content }) => content))
    await tests.start()
    await client.threads.waitUntilSettled('alone', { deadlineMs: 20_000 })
    const found = await client.search({ query: 'message 17', thread: 'alone' })
    expect(found.items[0]?.text).toContain('message 17')
  })

  test('a repeat stores nothing, whichever way it takes; another message under an id is a conflict', async () => {
    await tests.start(['ingest'])
    const { client: queued, directClient: direct } = tests.pipeline
    const [first, second] = [newId(), newId()]
    const append = (client: typeof queued, messages: readonly NewMessage[]) =>
      client.messages.append({ agent: 'coder', thread: 'repeated', messages })
    expect(await append(direct, [user('one', first)])).toMatchObject({ stored: 1, repeated: 0 })
    expect(await append(queued, [user('one', first), user('two', second)])).toMatchObject({ stored: 1, repeated: 1 })
    expect(await append(direct, [user('one', first), user('two', second)])).toMatchObject({ stored: 0, repeated: 2 })
    expect(await append(direct, [user('two', second), user('two', second)])).toMatchObject({ stored: 0, repeated: 2 })
    await expect(append(direct, [user('three'), user('other', first)])).rejects.toMatchObject({
      code: 'CONFLICT',
      field: 'messages.1.id',
    })
    await expect(
      direct.messages.append({ agent: 'other', thread: 'repeated', messages: [user('four')] }),
    ).rejects.toMatchObject({ code: 'CONFLICT', field: 'agent' })
    const keep = { agent: 'coder', thread: 'repeated', onUsedId: 'keep' } as const
    for (const client of [direct, queued]) {
      const messages = [user('other', first), user('another', first)]
      expect(await client.messages.append({ ...keep, messages })).toMatchObject({ stored: 0, repeated: 2 })
    }
    expect(contentsOf(await direct.messages.list({ thread: 'repeated' }))).toEqual(['one', 'two'])
  })

  test('appends of both ways at once lose nothing, repeat nothing and keep the order of each caller', async () => {
    await tests.start(['ingest'])
    const { client: queued, directClient: direct } = tests.pipeline
    const callers = Array.from({ length: 24 }, (_, caller) => caller)
    await Promise.all(
      callers.map(async (caller) => {
        for (let turn = 0; turn < 5; turn++) {
          const client = turn % 2 === 0 ? direct : queued
          await client.messages.append({ agent: 'coder', thread: 'mixed', messages: [user(`${caller}:${turn}`)] })
        }
      }),
    )
    const { items } = await direct.messages.list({ thread: 'mixed', limit: 500 })
    expect(items.map(({ seq }) => seq).toSorted((a, b) => a - b)).toEqual(items.map((_, index) => index + 1))
    expect(items).toHaveLength(24 * 5)
    for (const caller of callers) {
      const turns = contentsOf({ items }).filter((content) => content.startsWith(`${caller}:`))
      expect(turns).toEqual([0, 1, 2, 3, 4].map((turn) => `${caller}:${turn}`))
    }
  })

  /** Locks the cursor of a thread, as an erasure does. @returns ends it */
  async function lock(thread: string): Promise<() => Promise<unknown>> {
    const { store, projectId } = tests.pipeline
    const threadId = threadIdOf(projectId, thread)
    let unlock = () => {}
    let holding: Promise<unknown> = Promise.resolve()
    await new Promise<void>((locked) => {
      holding = store.inProject(projectId, async (tx) => {
        await tx`select from heddle.stage_cursors where thread_id = ${threadId} for update`
        locked()
        await new Promise<void>((resolve) => (unlock = resolve))
      })
    })
    return () => {
      unlock()
      return holding
    }
  }

  test('an append to a thread that is locked goes through the queue as well, and is stored once', async () => {
    await tests.start(['ingest'])
    const { directClient: client, queues } = tests.pipeline
    await client.messages.append({ agent: 'coder', thread: 'locked', messages: [user('before')] })
    const unlock = await lock('locked')
    const appending = client.messages.append({ agent: 'coder', thread: 'locked', messages: [user('meanwhile')] })
    const active = async () => (await queues.stats()).find(({ stage }) => stage === 'ingest')?.active
    await expect.poll(active, { timeout: 10_000 }).toBe(1)
    await unlock()
    expect(await appending).toMatchObject({ stored: 1 })
    expect(contentsOf(await client.messages.list({ thread: 'locked' }))).toEqual(['before', 'meanwhile'])
  })

  test('the wait for a commit ends at the deadline, or when the caller aborts', async () => {
    const { directClient: client } = tests.pipeline
    const append = { agent: 'coder', thread: 'slow', messages: [user('one')] }
    await client.messages.append(append)
    const unlock = await lock('slow')
    const beganMs = performance.now()
    await expect(client.messages.append({ ...append, deadlineMs: 50 })).rejects.toMatchObject({ code: 'TIMEOUT' })
    await expect(client.messages.append({ ...append, signal: AbortSignal.timeout(50) })).rejects.toMatchObject({
      name: 'TimeoutError',
    })
    // Less than the time after which an append goes through the queue.
    expect(performance.now() - beganMs).toBeLessThan(900)
    await unlock()
  })

  test('an append to an erased thread is refused', async () => {
    const { directClient: client } = tests.pipeline
    await client.messages.append({ agent: 'coder', thread: 'erased', messages: [user('gone')] })
    await client.threads.delete('erased')
    await expect(
      client.messages.append({ agent: 'coder', thread: 'erased', messages: [user('late')] }),
    ).rejects.toMatchObject({ code: 'CONFLICT', field: 'thread' })
  })
})
