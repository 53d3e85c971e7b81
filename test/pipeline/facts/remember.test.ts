import { PermanentError, type PlacedMessage } from '@heddle/contracts'
import { threadIdOf } from '@heddle/core'
import { systemClock } from '@heddle/runtime'
import { listDeadLetters, type Store } from '@heddle/store'
import { waitFor } from '@heddle/test-support'
import { describe, expect, test } from 'vitest'
import { emptyQueues } from '../../contract/queue/support.js'
import { allStages, pipelineOfTests, queueBackends } from '../support.js'
import { AGENT, openTenant, session, type Tenant, THREAD } from '../tenant.js'

/** A session in which a person states a value every now and then. */
function talk(name: string, turns: number): PlacedMessage[] {
  return session(name, turns).map((placed, index) => ({
    ...placed,
    message: {
      ...placed.message,
      ...(placed.message.role === 'user' && {
        content: `${placed.message.content} The latency of part ${index} is ${index + 2} ms.`,
      }),
    },
  }))
}

const reconcile = { everyMs: 100, patienceMs: 0 }

describe.each(queueBackends())('the remember stage on $title', ({ mode, skip }) => {
  describe.skipIf(skip)('reads facts', () => {
    const tests = pipelineOfTests(mode)
    const { start } = tests
    const asking = (project: string) => openTenant(tests.pipeline, project, { remember: 'rules' })
    const wake = ({ projectId }: Tenant) =>
      tests.pipeline.queues.wake('remember', { projectId, threadId: threadIdOf(projectId, THREAD) })
    const factsOf = async ({ client }: Tenant) =>
      (await client.facts.list(AGENT, { thread: THREAD, limit: 100 })).items
        .map(({ id, object, validFrom, sources }) => [id, object, validFrom, sources.length] as const)
        .sort()

    async function expectAll(tenant: Tenant, messages: readonly PlacedMessage[]): Promise<void> {
      const said = messages.filter(({ message }) => message.role === 'user').length
      const facts = await factsOf(tenant)
      expect(facts.length).toBeGreaterThanOrEqual(said)
      // A reading on demand finds the same ones under the same ids.
      expect(await tenant.client.facts.extract(THREAD)).toMatchObject({ facts: facts.length, added: 0 })
      expect(await factsOf(tenant)).toEqual(facts)
    }

    test('of messages that arrive twice and out of order, with jobs that are delivered again', async () => {
      const messages = talk('twice', 40)
      const [plain, tenant] = [await asking('plain'), await asking('twice')]
      for (const _ of [1, 2]) await wake(tenant)
      await start()
      for (const lot of [messages.slice(60), messages.slice(0, 30), messages.slice(30, 60), messages.slice(20, 70)]) {
        await tenant.send(lot)
        await wake(tenant)
      }
      await plain.send(messages)
      await tenant.whenSettled(messages.length)
      await plain.whenSettled(messages.length)
      for (const _ of [1, 2]) await wake(tenant)
      await tenant.whenSettled(messages.length)
      await expectAll(tenant, messages)
      await expectAll(plain, messages)
      const bare = async (one: Tenant) => (await factsOf(one)).map(([, ...fact]) => fact).sort()
      expect(await bare(tenant)).toEqual(await bare(plain))
      expect(await plain.client.threads.get(THREAD)).toMatchObject({
        cursors: { remember: messages.length },
        lastError: null,
      })
    })

    test('only where settings say so', async () => {
      const tenant = await openTenant(tests.pipeline, 'unasked')
      await start()
      const messages = talk('unasked', 10)
      await tenant.send(messages)
      await tenant.whenSettled(messages.length)
      expect([await factsOf(tenant), (await tenant.client.threads.get(THREAD)).cursors.remember]).toEqual([[], null])
    })

    test('of a thread whose wakes were lost', async () => {
      const tenant = await asking('emptied')
      const others = await start(['ingest', 'prune', 'summarize', 'embed'])
      const messages = talk('emptied', 20)
      await tenant.send(messages)
      await waitFor(async () => {
        const { headSeq, cursors } = await tenant.client.threads.get(THREAD)
        return headSeq === messages.length && cursors.prune === headSeq
      })
      expect((await tenant.client.threads.get(THREAD)).cursors.remember).toBe(0)
      await others.stop()
      await emptyQueues({ backend: tests.pipeline.queueBackend, prefix: tests.pipeline.prefix })
      await start(allStages, { reconcile })
      await tenant.whenSettled(messages.length)
      await expectAll(tenant, messages)
    })

    test('after a permanent failure, which leaves a dead letter and a mark, once the reconciler tries again', async () => {
      const tenant = await asking('failing')
      const { store } = tests.pipeline
      const clock = { ...systemClock, aheadMs: 0, nowMs: () => systemClock.nowMs() + clock.aheadMs }
      let failures = 0
      const failing: Store = {
        ...store,
        inProject: async (projectId, work, options) => {
          if (failures++ === 0) throw new PermanentError('INTERNAL', 'the facts are broken')
          return await store.inProject(projectId, work, options)
        },
      }
      await start(['remember'], { store: failing, clock, reconcile: false })
      await start(['ingest', 'prune', 'summarize', 'embed'], { clock, reconcile })
      const messages = talk('failing', 10)
      await tenant.send(messages)
      const letters = () =>
        store.inProject(tenant.projectId, (tx) => listDeadLetters(tx, { limit: 10, stage: 'remember' }))
      await waitFor(async () => (await letters()).length > 0, { what: 'a dead letter', timeoutMs: 30_000 })
      expect(await letters()).toMatchObject([{ attempts: 1, error: { detail: 'the facts are broken' } }])
      clock.aheadMs = 600_000
      await tenant.whenSettled(messages.length)
      expect(await tenant.client.threads.get(THREAD)).toMatchObject({ lastError: null })
      await expectAll(tenant, messages)
    })
  })
})
