import { randomUUID } from 'node:crypto'
import type { ContextJob } from '@heddle/contracts'
import { threadIdOf } from '@heddle/core'
import { createClient } from '@heddle/engine'
import { openQueues, type Queues } from '@heddle/queue'
import { createLogger, type Logger } from '@heddle/runtime'
import { loadContext, type Store } from '@heddle/store'
import { waitFor } from '@heddle/test-support'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openPipeline, type Pipeline, queueBackends } from '../support.js'

const AGENT = 'coder'
const THREAD = 'cloth'
const FAR_MS = 60_000

describe.each(queueBackends())('requests that travel in their jobs on $title', ({ mode, skip }) => {
  test.skipIf(skip)('are answered in the reply if its channel carries the answer, and stored completely', async () => {
    const pipeline = await openFilled(mode)
    await pipeline.start(['assemble'])
    // In the process of the worker, and in another one.
    for (const queues of [pipeline.queues, await otherProcess(pipeline)]) {
      const { client, transactions } = counting(pipeline, queues)
      await client.contexts.build({ thread: THREAD }, { deadlineMs: FAR_MS })
      Object.assign(transactions, { count: 0, sinceMs: performance.now() })
      const built = await client.contexts.build({ thread: THREAD }, { deadlineMs: FAR_MS })
      // On a slow machine the client also reads on its timer.
      expect(transactions.count).toBeLessThanOrEqual(slowLooks(transactions))
      const row = await rowOf(pipeline, built.id)
      expect(row).toMatchObject({ status: 'built', request: { thread: THREAD }, result: built })
      expect(await client.contexts.get(built.id, { rebuild: true })).toEqual(built)
      // Contexts that equal the previous one are stored as a reference to it.
      for (let repeat = 0; repeat < 3; repeat++) {
        const same = await client.contexts.build({ thread: THREAD }, { deadlineMs: FAR_MS })
        expect(await client.contexts.get(same.id, { rebuild: true })).toEqual(same)
      }
      // Delivered answers are rebuilt for other requests; those that may answer later requests are stored.
      expect(await isDelivered(pipeline, built.id)).toBe(false)
      const again = await client.contexts.build({ thread: THREAD, prebuild: true }, { deadlineMs: FAR_MS })
      expect(await isDelivered(pipeline, again.id)).toBe(true)
      expect((await client.contexts.list({ thread: THREAD })).items.map(({ id }) => id)).toContain(built.id)
    }
  })

  test.skipIf(skip)(
    'are answered with what is new if the process has the last context, which it keeps to itself',
    async () => {
      const pipeline = await openFilled(mode)
      await pipeline.start(['ingest', 'assemble'])
      const { client, transactions } = counting(pipeline, await otherProcess(pipeline))
      const append = (content: string) =>
        client.messages.append({ agent: AGENT, thread: THREAD, messages: [{ role: 'user', content }] })
      const request = { thread: THREAD, format: 'openai-chat', budget: 60_000 } as const
      // Far too long for a notification of Postgres.
      for (let part = 0; part < 8; part++) await append(`${part} ${randomUUID().repeat(300)}`)
      const first = await client.contexts.build(request, { deadlineMs: FAR_MS })
      expect(JSON.stringify(first).length).toBeGreaterThan(60_000)
      for (const content of ['Go on.', 'And on.', 'Stop.']) {
        await append(content)
        Object.assign(transactions, { count: 0, sinceMs: performance.now() })
        const built = await client.contexts.build(request, { deadlineMs: FAR_MS })
        expect(transactions.count).toBeLessThanOrEqual(slowLooks(transactions))
        expect(built.messages.at(-1)).toEqual({ role: 'user', content })
        expect(await isDelivered(pipeline, built.id)).toBe(false)
        const rebuilt = await client.contexts.get(built.id, { rebuild: true })
        expect(JSON.stringify(built)).toBe(JSON.stringify(rebuilt))
        // A caller owns its context, and may change it.
        for (const message of built.messages) Object.assign(message, { content: 'changed' })
        built.receipt.entries.length = 0
      }
    },
  )

  test.skipIf(skip)('never show a message that was erased from the context that the process has', async () => {
    const pipeline = await openFilled(mode)
    await pipeline.start(['ingest', 'assemble'])
    const { client } = counting(pipeline, await otherProcess(pipeline))
    const say = (content: string) =>
      client.messages.append({ agent: AGENT, thread: THREAD, messages: [{ role: 'user', content }] })
    const build = () => client.contexts.build({ thread: THREAD }, { deadlineMs: FAR_MS })
    await say('The secret colour is vermilion, for all that I know.')
    await say('Weave with it, please.')
    const before = await build()
    expect(JSON.stringify(before)).toContain('vermilion')
    await client.messages.erase({ thread: THREAD, fromSeq: 3, toSeq: 3 })
    await say('Go on.')
    for (let repeat = 0; repeat < 3; repeat++) {
      const built = await build()
      expect(JSON.stringify(built)).not.toContain('vermilion')
      expect(JSON.stringify(built)).toContain('Weave with it')
      expect(JSON.stringify(await client.contexts.get(built.id, { rebuild: true }))).toBe(JSON.stringify(built))
    }
  })

  test.skipIf(skip)('are read from their rows if what a reply carries does not make the stored context', async () => {
    const pipeline = await openFilled(mode)
    await pipeline.start(['ingest', 'assemble'])
    const jobs: object[] = []
    const changed: unknown[] = []
    const queues = changing(await otherProcess(pipeline), jobs, ({ patch }) => {
      changed.push(patch)
      return { patch: { ...patch, elements: patch.elements.toReversed() } }
    })
    const warned: object[] = []
    const log = { warn: (fields: object) => void warned.push(fields) } as unknown as Logger
    const { client } = counting(pipeline, queues, log)
    for (const content of ['One.', 'Two.', 'Three.']) {
      await client.messages.append({ agent: AGENT, thread: THREAD, messages: [{ role: 'user', content }] })
      const built = await client.contexts.build({ thread: THREAD }, { deadlineMs: FAR_MS })
      const row = await rowOf(pipeline, built.id)
      expect(JSON.stringify(built)).toBe(JSON.stringify(row?.result))
    }
    // On a slow machine a client may read its row before the reply.
    expect(changed.length).toBeGreaterThan(0)
    expect(warned).toHaveLength(changed.length)
    // Workers of earlier versions refuse jobs with other fields.
    const known = ['projectId', 'contextId', 'replyTo', 'requestKey', 'threadId', 'asked', 'wantsAnswer']
    for (const job of jobs) expect(known).toEqual(expect.arrayContaining(Object.keys(job)))
  })

  test.skipIf(skip)(
    'survive the loss of their jobs: the waiting client inserts the row and sends another job',
    async () => {
      const pipeline = await openFilled(mode)
      const { client, queues } = pipeline
      const building = client.contexts.build({ thread: THREAD }, { deadlineMs: FAR_MS })
      building.catch(() => {})
      await waitFor(async () => (await queues.removeJobs(() => true)) > 0, { what: 'the job' })
      await waitFor(async () => (await contextsOf(pipeline)) === 1, { what: 'the row' })
      await pipeline.start(['assemble'])
      expect((await building).thread).toBe(THREAD)
      expect(await contextsOf(pipeline)).toBe(1)
    },
  )

  test.skipIf(skip)('are written to the row before the job if they are large', async () => {
    const pipeline = await openFilled(mode)
    const { client, queues } = pipeline
    const message = 'weave '.repeat(11_000)
    const building = client.contexts.build({ thread: THREAD, message, budget: 60_000 }, { deadlineMs: FAR_MS })
    building.catch(() => {})
    const jobs: unknown[] = []
    const look = () => queues.removeJobs(({ payload }) => jobs.push(payload) > 0, { dryRun: true })
    await waitFor(async () => (await look()) > 0, { what: 'the job' })
    expect(await contextsOf(pipeline)).toBe(1)
    expect(jobs[0]).not.toHaveProperty('asked')
    await pipeline.start(['assemble'])
    expect(JSON.stringify((await building).messages)).toContain(message)
  })

  test.skipIf(skip)('return the reason if they cannot be met', async () => {
    const pipeline = await openFilled(mode)
    await pipeline.start(['assemble'])
    const { client } = pipeline
    await expect(client.contexts.build({ thread: THREAD, budget: 1 })).rejects.toMatchObject({
      code: 'BUDGET_TOO_SMALL',
    })
    await expect(client.contexts.build({ thread: 'never there' })).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect(await contextsOf(pipeline)).toBe(2)
  })

  test.skipIf(skip)('are built once if they are delivered twice, and not at all if they are late', async () => {
    const pipeline = await openFilled(mode)
    await pipeline.start(['assemble'])
    const job = jobOf(pipeline, { deadlineAtMs: Date.now() + FAR_MS })
    await runToTheEnd(pipeline, job)
    const first = await rowOf(pipeline, job.contextId)
    expect(first).toMatchObject({ status: 'built', result: { id: job.contextId } })
    await runToTheEnd(pipeline, job)
    expect(await rowOf(pipeline, job.contextId)).toEqual(first)
    const late = jobOf(pipeline, { deadlineAtMs: Date.now() - 1 })
    await runToTheEnd(pipeline, late)
    expect(await rowOf(pipeline, late.contextId)).toMatchObject({ status: 'failed', error: { code: 'TIMEOUT' } })
  })

  test.skipIf(skip)('leave dead letters if they fail permanently, and their threads to the reconciler', async () => {
    const pipeline = await openFilled(mode)
    const job = jobOf(pipeline, { deadlineAtMs: Number.POSITIVE_INFINITY })
    const run = runToTheEnd(pipeline, job)
    run.catch(() => {})
    await pipeline.start(['assemble'])
    await expect(run).rejects.toMatchObject({ code: 'VALIDATION_ERROR' })
    expect(await pipeline.client.deadLetters.list()).toMatchObject([
      { stage: 'assemble', threadId: job.threadId, error: { code: 'VALIDATION_ERROR' } },
    ])
    expect(await pipeline.client.threads.get(THREAD)).toMatchObject({ lastError: null })
  })

  test.skipIf(skip)('leave no data if their thread was erased, whatever their jobs hold', async () => {
    const pipeline = await openFilled(mode)
    const { client, queues } = pipeline
    const job = jobOf(pipeline, { deadlineAtMs: Date.now() + FAR_MS })
    await queues.add('assemble', job)
    await client.threads.delete(THREAD)
    expect(await queues.removeJobs(({ stage }) => stage === 'assemble', { dryRun: true })).toBe(0)
    await pipeline.start(['assemble'])
    await runToTheEnd(pipeline, job)
    expect(await contextsOf(pipeline)).toBe(0)
    await expect(client.contexts.build({ thread: THREAD })).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })
})

async function openFilled(mode: 'embedded' | 'postgres' | 'redis'): Promise<Pipeline> {
  const pipeline = await openPipeline(mode)
  onTestFinished(() => pipeline.close())
  const filling = await pipeline.start(['ingest'])
  await pipeline.client.messages.append({
    agent: AGENT,
    thread: THREAD,
    messages: [
      { role: 'user', content: 'Warp it.' },
      { role: 'assistant', content: 'Warped.' },
    ],
  })
  await filling.stop()
  return pipeline
}

async function otherProcess({ queueBackend, prefix }: Pipeline): Promise<Queues> {
  const log = createLogger({ level: 'fatal', name: 'test' })
  const queues = await openQueues({ backend: queueBackend, prefix, log, create: true })
  onTestFinished(() => queues.close({ timeoutMs: 0 }))
  return queues
}

/** A client that counts its transactions and measures its last wait. */
function counting({ store }: Pipeline, queues: Queues, log?: Logger) {
  const transactions = { count: 0, sinceMs: performance.now() }
  const counted: Store = {
    ...store,
    inProject(projectId, work, options) {
      transactions.count++
      return store.inProject(projectId, work, options)
    },
  }
  return { client: createClient({ store: counted, queues, project: 'tests', ...(log && { log }) }), transactions }
}

interface Patched {
  readonly patch: { readonly elements: readonly unknown[] }
}

/** Queues that collect the sent jobs of contexts, and change the differences in replies. */
function changing(queues: Queues, jobs: object[], change: (answer: Patched) => object): Queues {
  const add: Queues['add'] = (stage, job, ...rest) => {
    if (stage === 'assemble') jobs.push(job)
    return queues.add(stage, job, ...rest)
  }
  const expectReply: Queues['expectReply'] = ({ open, ...expectation }) =>
    queues.expectReply({
      ...expectation,
      ...(open && { open: (answer) => open(isPatched(answer) ? change(answer) : answer) }),
    })
  return new Proxy(queues, {
    get(target, name) {
      if (name === 'add') return add
      if (name === 'expectReply') return expectReply
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

function isPatched(answer: unknown): answer is Patched {
  return typeof answer === 'object' && answer !== null && 'patch' in answer
}

const FIRST_LOOK_MS = 250

function slowLooks({ sinceMs }: { readonly sinceMs: number }): number {
  const tookMs = performance.now() - sinceMs
  return tookMs < FIRST_LOOK_MS ? 0 : 2 + tookMs / FIRST_LOOK_MS
}

function jobOf({ projectId }: Pipeline, { deadlineAtMs }: { readonly deadlineAtMs: number }): ContextJob {
  const asked = { request: { thread: THREAD }, deadlineAtMs }
  return { projectId, contextId: randomUUID(), threadId: threadIdOf(projectId, THREAD), asked }
}

/** Adds a job, and waits until a worker has finished it and its queue no longer has it: a job with its id would be skipped. */
async function runToTheEnd({ queues }: Pipeline, job: ContextJob): Promise<void> {
  const expected = queues.expectReply<true>({
    requestId: job.contextId,
    deadlineMs: FAR_MS,
    firstReadMs: FAR_MS,
    readEveryMs: FAR_MS,
    read: async () => true,
  })
  await queues.add('assemble', { ...job, replyTo: queues.inbox })
  try {
    await expected.result
  } finally {
    const isGone = async () => (await queues.stats()).every(({ stage, active }) => stage !== 'assemble' || active === 0)
    await waitFor(isGone, { what: 'the end of the job' })
  }
}

function rowOf({ store, projectId }: Pipeline, id: string) {
  return store.inProject(projectId, (tx) => loadContext(tx, { id }))
}

/** Whether the delivered bytes of a context are stored. */
function isDelivered({ store, projectId }: Pipeline, id: string): Promise<boolean> {
  return store.inProject(
    projectId,
    async (tx) => (await tx`select from heddle.context_deliveries where context_id = ${id}`).count === 1,
  )
}

/** The number of stored contexts, with any status. */
function contextsOf({ store, projectId }: Pipeline): Promise<number> {
  return store.inProject(projectId, async (tx) => (await tx`select from heddle.contexts`).count)
}
