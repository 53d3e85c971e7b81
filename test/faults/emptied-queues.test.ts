import { threadIdOf } from '@heddle/core'
import { waitFor } from '@heddle/test-support'
import { describe, expect, test } from 'vitest'
import { emptyQueues, strayKey } from '../contract/queue/support.js'
import { allStages, modes, pipelineOfTests } from '../pipeline/support.js'
import { AGENT, openTenant, session, settledView, type Tenant, THREAD } from '../pipeline/tenant.js'

const THREADS = ['one', 'two', 'three', 'four']
/** Short intervals, so that no test waits for a clock. */
const reconcile = { everyMs: 100, patienceMs: 0 }

describe.each(modes())('queues that are emptied on $title', ({ mode, skip }) => {
  describe.skipIf(skip)('lose nothing', () => {
    const tests = pipelineOfTests(mode)
    const { start } = tests
    const place = () => ({ backend: tests.pipeline.queueBackend, prefix: tests.pipeline.prefix })

    test('in the middle of an append: it completes, and so does the work that it woke', async () => {
      const tenant = await openTenant(tests.pipeline, 'appending')
      const sessions = THREADS.map((thread) => ({ thread, messages: session(`appending-${thread}`, 120) }))
      const total = sessions.reduce((sum, { messages }) => sum + messages.length, 0)
      const ingest = await start(['ingest'], { concurrency: 1 })
      const appended = Promise.all(
        sessions.map(({ thread, messages }) =>
          tenant.client.messages.append({ agent: AGENT, thread, messages: messages.map(({ message }) => message) }),
        ),
      )
      appended.catch(() => {})
      await waitFor(async () => (await storedIn(tenant)) > 0, { what: 'the first messages', everyMs: 1 })
      await emptyQueues(place())
      await ingest.stop()
      await emptyQueues(place())
      expect(await storedIn(tenant)).toBeLessThan(total)

      await start(allStages, { reconcile })
      expect((await appended).reduce((sum, { stored }) => sum + stored, 0)).toBe(total)
      for (const { thread, messages } of sessions) await tenant.whenSettled(messages.length, thread)
      expect(await storedIn(tenant)).toBe(total)
    })

    test('in the middle of compactions: every thread reaches the state that it would have had', async () => {
      const tenant = await openTenant(tests.pipeline, 'compacting')
      const sessions = THREADS.map((thread) => ({ thread, messages: session(`compacting-${thread}`, 60) }))
      const ingest = await start(['ingest'])
      await Promise.all(sessions.map(({ thread, messages }) => tenant.send(messages, thread)))
      await waitFor(
        async () => (await storedIn(tenant)) === sessions.reduce((sum, one) => sum + one.messages.length, 0),
        {
          what: 'all messages',
        },
      )
      await ingest.stop()
      const first = await start(['prune', 'summarize', 'embed'], { concurrency: 1 })
      await waitFor(async () => (await compactionsIn(tenant)) > 0, { what: 'a compaction', everyMs: 1 })
      await emptyQueues(place())
      await first.stop()
      await emptyQueues(place())

      await start(allStages, { reconcile })
      for (const { thread, messages } of sessions) await tenant.whenSettled(messages.length, thread)
      const undisturbed = await openTenant(tests.pipeline, 'undisturbed')
      for (const { thread, messages } of sessions) {
        await undisturbed.send(messages, thread)
        await undisturbed.whenSettled(messages.length, thread)
        expect(await settledView(tenant.client, thread)).toEqual(await settledView(undisturbed.client, thread))
      }
    })

    test('under running workers: later jobs are processed as before', async () => {
      const tenant = await openTenant(tests.pipeline, 'going-on')
      await start(allStages, { reconcile })
      const messages = session('going-on', 60)
      await tenant.send(messages.slice(0, 40))
      await tenant.whenSettled(40)
      await emptyQueues(place())
      await tenant.client.messages.append({
        agent: AGENT,
        thread: THREAD,
        messages: messages.slice(40).map(({ message }) => message),
      })
      await tenant.whenSettled(messages.length)
      expect((await tenant.client.contexts.build({ thread: THREAD })).receipt.eligible).toBe(messages.length)
    })

    test('except a deduplication key that blocks wake-ups: the reconciler still finds the thread', async () => {
      const tenant = await openTenant(tests.pipeline, 'stray', { remember: 'rules' })
      const threadId = threadIdOf(tenant.projectId, THREAD)
      for (const stage of ['prune', 'summarize', 'embed', 'remember'] as const) await strayKey(place(), stage, threadId)
      await start(allStages, { reconcile })
      const messages = session('stray', 30)
      await tenant.send(messages)
      await tenant.whenSettled(messages.length)
      expect((await tenant.client.threads.get(THREAD)).lastError).toBeNull()
    })

    test('and a context that was requested before they were emptied is built afterwards', async () => {
      const tenant = await openTenant(tests.pipeline, 'requested')
      const ingest = await start(['ingest', 'prune', 'summarize', 'embed'])
      const messages = session('requested', 10)
      await tenant.send(messages)
      await tenant.whenSettled(messages.length)
      await ingest.stop()
      const requested = tenant.client.contexts.build({ thread: THREAD })
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

async function storedIn({ client }: Tenant): Promise<number> {
  const { items } = await client.threads.list()
  return items.reduce((sum, { messages }) => sum + messages, 0)
}

async function compactionsIn({ client }: Tenant): Promise<number> {
  const { items } = await client.threads.list()
  const threads = await Promise.all(items.map(({ name }) => client.threads.get(name)))
  return threads.reduce((sum, { states }) => sum + states.length, 0)
}
