import { threadIdOf } from '@heddle/core'
import { waitFor } from '@heddle/test-support'
import { describe, expect, test } from 'vitest'
import { emptyQueues, strayKey } from '../contract/queue/support.js'
import { allStages, modes, pipelineOfTests } from '../pipeline/support.js'
import { AGENT, type Loom, openLoom, session, THREAD, woven } from '../pipeline/weaving.js'

const THREADS = ['one', 'two', 'three', 'four']
/** Short intervals, so that no test waits for a clock. */
const reconcile = { everyMs: 100, patienceMs: 0 }

describe.each(modes())('queues that are emptied on $title', ({ mode, skip }) => {
  describe.skipIf(skip)('lose nothing', () => {
    const tests = pipelineOfTests(mode)
    const { start } = tests
    const place = () => ({ backend: tests.pipeline.queueBackend, prefix: tests.pipeline.prefix })

    test('in the middle of an append: it completes, and so does the work that it woke', async () => {
      const loom = await openLoom(tests.pipeline, 'appending')
      const sessions = THREADS.map((thread) => ({ thread, messages: session(`appending-${thread}`, 120) }))
      const total = sessions.reduce((sum, { messages }) => sum + messages.length, 0)
      const ingest = await start(['ingest'], { concurrency: 1 })
      const appended = Promise.all(
        sessions.map(({ thread, messages }) =>
          loom.client.messages.append({ agent: AGENT, thread, messages: messages.map(({ message }) => message) }),
        ),
      )
      appended.catch(() => {})
      await waitFor(async () => (await storedIn(loom)) > 0, { what: 'the first messages', everyMs: 1 })
      await emptyQueues(place())
      await ingest.stop()
      await emptyQueues(place())
      expect(await storedIn(loom)).toBeLessThan(total)

      await start(allStages, { reconcile })
      expect((await appended).reduce((sum, { stored }) => sum + stored, 0)).toBe(total)
      for (const { thread, messages } of sessions) await loom.whenSettled(messages.length, thread)
      expect(await storedIn(loom)).toBe(total)
    })

    test('in the middle of compactions: every thread reaches the state that it would have had', async () => {
      const loom = await openLoom(tests.pipeline, 'compacting')
      const sessions = THREADS.map((thread) => ({ thread, messages: session(`compacting-${thread}`, 60) }))
      const ingest = await start(['ingest'])
      await Promise.all(sessions.map(({ thread, messages }) => loom.send(messages, thread)))
      await waitFor(
        async () => (await storedIn(loom)) === sessions.reduce((sum, one) => sum + one.messages.length, 0),
        {
          what: 'all messages',
        },
      )
      await ingest.stop()
      const first = await start(['prune', 'summarize', 'embed'], { concurrency: 1 })
      await waitFor(async () => (await compactionsIn(loom)) > 0, { what: 'a compaction', everyMs: 1 })
      await emptyQueues(place())
      await first.stop()
      await emptyQueues(place())

      await start(allStages, { reconcile })
      for (const { thread, messages } of sessions) await loom.whenSettled(messages.length, thread)
      const undisturbed = await openLoom(tests.pipeline, 'undisturbed')
      for (const { thread, messages } of sessions) {
        await undisturbed.send(messages, thread)
        await undisturbed.whenSettled(messages.length, thread)
        expect(await woven(loom.client, thread)).toEqual(await woven(undisturbed.client, thread))
      }
    })

    test('under running workers: later jobs are processed as before', async () => {
      const loom = await openLoom(tests.pipeline, 'going-on')
      await start(allStages, { reconcile })
      const messages = session('going-on', 60)
      await loom.send(messages.slice(0, 40))
      await loom.whenSettled(40)
      await emptyQueues(place())
      await loom.client.messages.append({
        agent: AGENT,
        thread: THREAD,
        messages: messages.slice(40).map(({ message }) => message),
      })
      await loom.whenSettled(messages.length)
      expect((await loom.client.contexts.build({ thread: THREAD })).receipt.eligible).toBe(messages.length)
    })

    test('except a deduplication key that blocks wake-ups: the reconciler still finds the thread', async () => {
      const loom = await openLoom(tests.pipeline, 'stray', { remember: 'rules' })
      const threadId = threadIdOf(loom.projectId, THREAD)
      for (const stage of ['prune', 'summarize', 'embed', 'remember'] as const) await strayKey(place(), stage, threadId)
      await start(allStages, { reconcile })
      const messages = session('stray', 30)
      await loom.send(messages)
      await loom.whenSettled(messages.length)
      expect((await loom.client.threads.get(THREAD)).lastError).toBeNull()
    })

    test('and a context that was requested before they were emptied is built afterwards', async () => {
      const loom = await openLoom(tests.pipeline, 'requested')
      const ingest = await start(['ingest', 'prune', 'summarize', 'embed'])
      const messages = session('requested', 10)
      await loom.send(messages)
      await loom.whenSettled(messages.length)
      await ingest.stop()
      const requested = loom.client.contexts.build({ thread: THREAD })
      requested.catch(() => {})
      await waitFor(
        async () => (await tests.pipeline.queues.stats()).find(({ stage }) => stage === 'assemble')?.waiting === 1,
      )
      await emptyQueues(place())
      await start(allStages, { reconcile })
      expect((await requested).receipt.eligible).toBe(messages.length)
    })
  })
})

async function storedIn({ client }: Loom): Promise<number> {
  const { items } = await client.threads.list()
  return items.reduce((sum, { messages }) => sum + messages, 0)
}

async function compactionsIn({ client }: Loom): Promise<number> {
  const { items } = await client.threads.list()
  const threads = await Promise.all(items.map(({ name }) => client.threads.get(name)))
  return threads.reduce((sum, { states }) => sum + states.length, 0)
}
