import { randomUUID } from 'node:crypto'
import { RetryableError, type StageName, type StagePayload, stages, type WakeStageName } from '@heddle/contracts'
import { agentIdOf, summarizeExtractively, threadIdOf } from '@heddle/core'
import type { Summarizer } from '@heddle/models'
import type { Clock } from '@heddle/runtime'
import { systemClock } from '@heddle/runtime'
import { clearAgent, listDeadLetters, loadContext, requestContext } from '@heddle/store'
import { waitFor } from '@heddle/test-support'
import { describe, expect, test } from 'vitest'
import { allStages, pipelineOfTests, queueBackends } from '../support.js'
import { AGENT, openTenant, session, settledView, type Tenant, THREAD } from '../tenant.js'

const LENGTH = 60

/** A summarizer that a test can break, repair, and block. */
class TestSummarizer implements Summarizer {
  readonly name = 'test'
  broken = false
  calls = 0
  /** Resolved by the test if set; each call waits for it. */
  gate: Promise<void> | null = null

  async summarize(request: Parameters<Summarizer['summarize']>[0]): Promise<string> {
    this.calls++
    await this.gate
    if (this.broken) throw new RetryableError('SERVICE_UNAVAILABLE', 'the model is away')
    return summarizeExtractively(request)
  }
}

/** A clock that a test can set forward. */
class TestClock implements Clock {
  aheadMs = 0
  nowMs = () => systemClock.nowMs() + this.aheadMs
  monotonicMs = () => systemClock.monotonicMs() + this.aheadMs
  wait: Clock['wait'] = (ms, signal) => systemClock.wait(ms, signal)
  after: Clock['after'] = (ms, callback) => systemClock.after(ms, callback)
}

// Embedded differs from postgres only in the origin of the server, not in the work of the stages.
describe.each(queueBackends())('the stages on $title', ({ mode, skip }) => {
  describe.skipIf(skip)('handle', () => {
    const tests = pipelineOfTests(mode)
    const { start } = tests
    let made = 0
    const freshTenant = () => openTenant(tests.pipeline, `stages-${++made}`)
    const letters = (tenant: Tenant, stage: StageName) =>
      tests.pipeline.store.inProject(tenant.projectId, (tx) => listDeadLetters(tx, { limit: 100, stage }))
    const threadOf = (tenant: Tenant) => ({
      projectId: tenant.projectId,
      threadId: threadIdOf(tenant.projectId, THREAD),
    })

    async function wakeAll(tenant: Tenant, times: number): Promise<void> {
      for (const stage of ['embed', 'remember', 'summarize', 'prune'] as const satisfies WakeStageName[]) {
        for (let time = 0; time < times; time++) await tests.pipeline.queues.wake(stage, threadOf(tenant))
      }
    }

    async function whenIdle(): Promise<void> {
      await waitFor(
        async () =>
          (await tests.pipeline.queues.stats()).every(
            ({ waiting, active, delayed }) => waiting + active + delayed === 0,
          ),
        { what: 'idle queues', timeoutMs: 30_000 },
      )
    }

    test('jobs that are delivered twice and out of order', async () => {
      const messages = session('twice', LENGTH)
      const tenant = await freshTenant()
      await wakeAll(tenant, 2)
      await start()
      await whenIdle()
      for (const _ of [1, 2]) await tenant.send(messages)
      await tenant.whenSettled(messages.length)
      const first = await settledView(tenant.client)
      await wakeAll(tenant, 3)
      await tenant.send(messages)
      await whenIdle()
      expect(await settledView(tenant.client)).toEqual(first)
      const thread = await tenant.client.threads.get(THREAD)
      expect(thread).toMatchObject({ messages: messages.length, headSeq: messages.length, lastError: null })
    })

    test('a context that is requested twice under one id', async () => {
      const tenant = await freshTenant()
      await start()
      await tenant.send(session('asked', 5))
      await tenant.whenSettled(session('asked', 5).length)
      const id = randomUUID()
      const { projectId, threadId } = threadOf(tenant)
      const read = () => tests.pipeline.store.inProject(projectId, (tx) => loadContext(tx, { id }))
      await tests.pipeline.store.inProject(projectId, (tx) =>
        requestContext(tx, { id, threadId, request: { thread: THREAD }, deadlineAtMs: Date.now() + 60_000 }),
      )
      await tests.pipeline.queues.add('assemble', { projectId, contextId: id })
      const built = await waitFor(async () => (await read())?.result, { what: 'the context' })
      await tests.pipeline.queues.add('assemble', { projectId, contextId: id })
      await whenIdle()
      expect((await read())?.result).toEqual(built)
    })

    test('requests during appends: each context accounts for the messages of one moment', async () => {
      const tenant = await freshTenant()
      await tenant.client.agents.put(AGENT, { settings: { budget: 100_000, rollingWindow: null } })
      await start()
      const messages = session('growing', 25)
      await tenant.send(messages.slice(0, 1))
      await tenant.whenSettled(1)
      const growing = { isDone: false }
      const appended = (async () => {
        for (const message of messages.slice(1)) await tenant.send([message])
        await tenant.whenSettled(messages.length)
        growing.isDone = true
      })()
      appended.catch(() => {})
      while (!growing.isDone) {
        const contexts = await Promise.all([1, 2, 3].map(() => tenant.client.contexts.build({ thread: THREAD })))
        for (const { receipt } of contexts) {
          expect(receipt).toMatchObject({ eligible: receipt.headSeq, imported: receipt.headSeq })
          expect(receipt.entries.filter(({ mode }) => mode === 'left-out' || mode === 'covered')).toEqual([])
        }
      }
      await appended
    })

    test('poison jobs: they become dead letters with their reason, and other jobs continue', async () => {
      const tenant = await freshTenant()
      await start()
      const { projectId } = tenant
      const poison: { [Name in StageName]: unknown } = {
        ingest: { projectId, requestId: 'no id', agent: AGENT, thread: THREAD, messages: [] },
        prune: { projectId, threadId: 'no id' },
        summarize: { projectId, threadId: 'no id' },
        embed: { projectId, threadId: 'no id' },
        remember: { projectId, threadId: 'no id' },
        assemble: { projectId, contextId: 'no id' },
      }
      const messages = session('poison', 10)
      for (const stage of allStages) await tests.pipeline.queues.add(stage, poison[stage] as StagePayload<typeof stage>)
      await tenant.send(messages)
      await tenant.whenSettled(messages.length)
      for (const stage of allStages) {
        const [letter] = await waitFor(async () => {
          const found = await letters(tenant, stage)
          return found.length > 0 && found
        })
        expect(letter).toMatchObject({ stage, attempts: 1, error: { code: 'VALIDATION_ERROR' } })
      }
      expect((await tenant.client.contexts.build({ thread: THREAD })).receipt.eligible).toBe(messages.length)
    })

    test('messages that conflict with stored ones: they become dead letters, their neighbours are stored', async () => {
      const tenant = await freshTenant()
      await start()
      const messages = session('contradiction', 10)
      await tenant.send(messages)
      const [first] = messages
      if (!first) throw new Error('the session is empty')
      await tenant.whenSettled(messages.length)
      await Promise.all([
        tenant.send([{ ...first, message: { ...first.message, content: 'something else' } }]),
        tenant.send(session('contradiction-neighbour', 3), 'neighbour'),
      ])
      await tenant.whenSettled(session('contradiction-neighbour', 3).length, 'neighbour')
      await waitFor(async () => (await letters(tenant, 'ingest')).length === 1)
      expect(await letters(tenant, 'ingest')).toMatchObject([{ attempts: 1, error: { code: 'CONFLICT' } }])
      expect(await tenant.client.threads.get(THREAD)).toMatchObject({ messages: messages.length, lastError: null })
    })

    test('workers that stop during their jobs', async () => {
      const messages = session('stopped', LENGTH)
      const plain = await freshTenant()
      const tenant = await freshTenant()
      const summarizer = new TestSummarizer()
      let open: () => void = () => {}
      summarizer.gate = new Promise((resolve) => {
        open = resolve
      })
      const stopped = await start(allStages, { summarizer })
      await tenant.send(messages)
      await waitFor(() => summarizer.calls > 0, { what: 'a summary under way' })
      const stopping = stopped.stop()
      open()
      await stopping
      await start()
      await wakeAll(tenant, 1)
      await plain.send(messages)
      await tenant.whenSettled(messages.length)
      await plain.whenSettled(messages.length)
      expect((await settledView(tenant.client)).series).toEqual((await settledView(plain.client)).series)
    })

    test('a permanently failing summarizer: nothing is lost, contexts are built, and the threads settle once it works again', async () => {
      const messages = session('broken', LENGTH)
      const half = messages.slice(0, 60)
      const tenant = await freshTenant()
      const clock = new TestClock()
      const summarizer = new TestSummarizer()
      // Requests have deadlines on the real clock.
      await start(['assemble'])
      await start(['ingest', 'prune', 'summarize', 'embed'], {
        summarizer,
        clock,
        reconcile: { everyMs: 100, patienceMs: 0 },
      })
      await tenant.send(half)
      await tenant.whenSettled(half.length)
      const former = (await tenant.client.threads.get(THREAD)).states.findLast(({ summary }) => summary !== null)
      if (!former) throw new Error('a summary was to be there')

      summarizer.broken = true
      await tenant.send(messages.slice(60))
      const [letter] = await waitFor(
        async () => {
          const found = await letters(tenant, 'summarize')
          return found.length > 0 && found
        },
        { what: 'a dead letter', timeoutMs: 60_000 },
      )
      expect(letter).toMatchObject({
        attempts: stages.summarize.attempts,
        error: { code: 'SERVICE_UNAVAILABLE', detail: 'the model is away' },
      })
      const marked = await waitFor(async () => {
        const thread = await tenant.client.threads.get(THREAD)
        return thread.cursors.prune === thread.headSeq && thread.lastError !== null && thread
      })
      expect(marked).toMatchObject({
        messages: messages.length,
        lastError: expect.stringContaining('the model is away'),
      })
      expect(marked.states.find(({ id }) => id === former.id)?.summary).toBe(former.summary)
      const context = await tenant.client.contexts.build({ thread: THREAD, format: 'openai-chat' })
      expect(context.tokensUsed).toBeLessThanOrEqual(context.budget)
      expect(context.receipt.eligible).toBe(messages.length)
      expect(context.receipt.notes.join()).toContain('extractive summary')

      summarizer.broken = false
      clock.aheadMs = 600_000
      await tenant.whenSettled(messages.length)
      expect(await tenant.client.threads.get(THREAD)).toMatchObject({ lastError: null })
      const plain = await freshTenant()
      await plain.send(messages)
      await plain.whenSettled(messages.length)
      expect((await settledView(tenant.client)).series).toEqual((await settledView(plain.client)).series)
    })

    test('a clear while a summary is written: the summary is void, and only later messages are shown', async () => {
      const messages = session('cleared', LENGTH)
      const tenant = await freshTenant()
      const summarizer = new TestSummarizer()
      let open: () => void = () => {}
      summarizer.gate = new Promise((resolve) => {
        open = resolve
      })
      await start(allStages, { summarizer, reconcile: { everyMs: 100, patienceMs: 0 } })
      await tenant.send(messages)
      await waitFor(() => summarizer.calls > 0, { what: 'a summary under way' })
      const clearedAtMs = Date.parse('2026-03-01T00:00:00Z')
      const agentId = agentIdOf(tenant.projectId, AGENT)
      await tests.pipeline.store.inProject(tenant.projectId, (tx) => clearAgent(tx, { agentId, clearedAtMs }))
      open()
      await tenant.whenSettled(messages.length)
      expect((await tenant.client.threads.get(THREAD)).states).toEqual([])

      const later = session('cleared-later', 2).map(({ message: { sentAt: _, ...message }, ordinal }) => ({
        message,
        ordinal,
        orderedAt: new Date(clearedAtMs + 1_000).toISOString(),
      }))
      const late = session('cleared-late', 2)
      await tenant.send(later)
      await tenant.send(late)
      await tenant.whenSettled(messages.length + later.length + late.length)
      const context = await tenant.client.contexts.build({ thread: THREAD })
      expect(context).toMatchObject({ summaryUsed: false, receipt: { clearEpoch: 1, eligible: later.length } })
      expect(context.receipt.imported).toBe(messages.length + later.length + late.length)
    })
  })
})
