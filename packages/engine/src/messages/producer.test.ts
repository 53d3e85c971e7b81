import type { ProducerOptions } from '@heddle/client/interface'
import { ConflictError, type IngestJob, PermanentError, RetryableError } from '@heddle/contracts'
import type { Queues } from '@heddle/queue'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ManualClock } from '../../../../test/support/src/manual-clock.js'
import { KnownContexts } from '../contexts/known-contexts.js'
import { LikelyPrepared } from '../setup/likely-prepared.js'
import type { EngineContext } from '../setup/options.js'
import { Ordinals } from './ordinals.js'
import { createProducer } from './producer.js'

const PROJECT_ID = '018f0000-0000-7000-8000-000000000000'

/** A producer over a queue that takes, refuses or loses jobs as a test decides. */
function producing(
  options: Partial<ProducerOptions>,
  take: (job: IngestJob, attempt: number) => Promise<void> = async () => {},
) {
  const clock = new ManualClock()
  const jobs: IngestJob[] = []
  let attempts = 0
  const queues = {
    inbox: 'inbox',
    admit: async () => {},
    acquireShare: () => () => {},
    async add(_stage: string, job: IngestJob) {
      await take(job, attempts++)
      jobs.push(job)
    },
  } as unknown as Queues
  const parts: EngineContext = {
    store: {} as EngineContext['store'],
    queues,
    project: 'p',
    projectId: PROJECT_ID,
    settings: {},
    settingLayers: [],
    snapshotsFolder: null,
    log: undefined,
    clock,
    ordinals: new Ordinals(),
    likelyPrepared: new LikelyPrepared(),
    embedder: null,
    reranker: null,
    directAppends: null,
    knownContexts: new KnownContexts(),
    previewer: null,
    ensureProjectName: async () => {},
  }
  const producer = createProducer(parts, { agent: 'a', ack: 'queued', ...options })
  const contents = () => jobs.map((job) => job.messages.map(({ message }) => message.content))
  return { clock, jobs, producer, contents }
}

const user = (content: string, sentAt?: string) => ({ role: 'user' as const, content, ...(sentAt && { sentAt }) })
const outcome = (promise: Promise<unknown>) =>
  promise.then(
    () => 'acknowledged',
    (error: { code?: string }) => error.code ?? String(error),
  )

test('messages of one thread are collected until there are enough, or the first is old enough', async () => {
  const { clock, producer, contents } = producing({ batchMessagesMax: 3, batchAgeMs: 50 })
  const added = ['1', '2', '3', '4'].map((content) => producer.add('t', user(content)))
  await clock.advance(0)
  // The fourth travels as soon as the first three have arrived.
  expect(contents()).toEqual([['1', '2', '3'], ['4']])
  await Promise.all(added)
  const late = producer.add('t', user('5'))
  await clock.advance(49)
  expect(contents()).toHaveLength(2)
  await clock.advance(1)
  expect(contents()[2]).toEqual(['5'])
  expect(await late).toMatchObject({ id: expect.any(String), threadId: expect.any(String) })
})

test('threads do not wait for each other and share no job', async () => {
  const hung = new Promise<void>(() => {})
  const { clock, producer, jobs } = producing({ batchAgeMs: 0 }, (job) =>
    job.thread === 'slow' ? hung : Promise.resolve(),
  )
  void producer.add('slow', user('1')).catch(() => {})
  const fast = producer.add('fast', user('2'))
  await clock.advance(0)
  await fast
  expect(jobs.map(({ thread }) => thread)).toEqual(['fast'])
})

test('whatever their times, and however often sending fails, messages are acknowledged once, in the order of adding', async () => {
  const messages = fc.array(
    fc.record({
      thread: fc.constantFrom('x', 'y'),
      sentMs: fc.option(fc.integer({ min: -10_000_000, max: 10_000_000 }), { nil: undefined }),
      pauseMs: fc.constantFrom(0, 0, 0, 1, 30),
    }),
    { minLength: 1, maxLength: 40 },
  )
  await fc.assert(
    fc.asyncProperty(messages, fc.array(fc.boolean()), async (given, failures) => {
      const { clock, producer, jobs } = producing({ batchMessagesMax: 4, batchAgeMs: 20 }, async (_job, attempt) => {
        if (failures[attempt] === true) throw new RetryableError('SERVICE_UNAVAILABLE', 'away')
      })
      const startedMs = clock.nowMs()
      const added: Promise<unknown>[] = []
      for (const [index, { thread, sentMs, pauseMs }] of given.entries()) {
        const sentAt = sentMs === undefined ? undefined : new Date(startedMs + sentMs).toISOString()
        added.push(producer.add(thread, user(String(index), sentAt)))
        await clock.advance(pauseMs)
      }
      await clock.advance(29_000)
      await Promise.all(added)
      for (const thread of ['x', 'y']) {
        const sent = jobs.filter((job) => job.thread === thread).flatMap((job) => job.messages)
        const expected = [...given.keys()].filter((index) => given[index]?.thread === thread).map(String)
        expect(sent.map(({ message }) => message.content)).toEqual(expected)
        const ordered = [...sent].sort(
          (left, right) => Date.parse(left.orderedAt) - Date.parse(right.orderedAt) || left.ordinal - right.ordinal,
        )
        expect(ordered.map(({ message }) => message.content)).toEqual(expected)
        // Also where an ingest worker holds times to its own clock, and so makes them equal.
        const ordinalsAtOnce = sent.map(({ ordinal }) => ordinal)
        expect(ordinalsAtOnce).toEqual([...new Set(ordinalsAtOnce)].sort((left, right) => left - right))
      }
      for (const job of jobs) expect(job.messages.length).toBeLessThanOrEqual(4)
    }),
    { numRuns: 60 },
  )
})

test('an invalid message is refused alone; the others of its batch are sent', async () => {
  const { clock, producer, contents } = producing({ batchAgeMs: 10, batchMessagesMax: 4 }, async ({ messages }) => {
    await clock.wait(5)
    const index = messages.findIndex(({ message }) => message.content.startsWith('bad'))
    if (index >= 0) throw new ConflictError('taken', { field: `messages.${index}.id` })
  })
  const added = ['good', 'bad', 'fine', 'bad too'].map((content) => outcome(producer.add('t', user(content))))
  await clock.advance(2)
  const later = producer.add('t', user('later'))
  await clock.advance(100)
  expect(await Promise.all(added)).toEqual(['acknowledged', 'CONFLICT', 'acknowledged', 'CONFLICT'])
  await later
  // Those that had to be sent again stay before what came meanwhile.
  expect(contents().flat()).toEqual(['good', 'fine', 'later'])
})

test('two messages with one id share no batch, so that each gets its own result', async () => {
  const { clock, producer, contents } = producing({ batchAgeMs: 10 })
  const id = '018f0000-0000-7000-8000-0000000000aa'
  const added = ['1', '2', '3'].map((content) =>
    producer.add('t', { ...user(content), ...(content !== '2' && { id }) }),
  )
  await clock.advance(100)
  await Promise.all(added)
  expect(contents()).toEqual([['1', '2'], ['3']])
})

test('an error of the whole batch rejects all of its messages at once', async () => {
  let attempts = 0
  const { clock, producer } = producing({}, async () => {
    attempts++
    throw new PermanentError('FORBIDDEN', 'no', { field: 'agent' })
  })
  const added = ['1', '2', '3'].map((content) => outcome(producer.add('t', user(content))))
  await clock.advance(100)
  expect(await Promise.all(added)).toEqual(['FORBIDDEN', 'FORBIDDEN', 'FORBIDDEN'])
  expect(attempts).toBe(1)
})

test('a message past its deadline is refused; later ones are retried', async () => {
  let isAway = true
  const { clock, producer, contents } = producing({ batchAgeMs: 0, deadlineMs: 5_000 }, async () => {
    if (isAway) throw new RetryableError('SERVICE_UNAVAILABLE', 'away')
  })
  const early = outcome(producer.add('t', user('early')))
  await clock.advance(3_000)
  const late = outcome(producer.add('t', user('late')))
  await clock.advance(2_000)
  expect(await early).toBe('SERVICE_UNAVAILABLE')
  isAway = false
  await clock.advance(2_000)
  expect(await late).toBe('acknowledged')
  expect(contents()).toEqual([['late']])
})

test('invalid messages and options are refused by name and do not count as pending', async () => {
  const { producer } = producing({ pendingMessagesMax: 1 })
  await expect(producer.add('t', { role: 'nobody' } as never)).rejects.toMatchObject({ code: 'VALIDATION_ERROR' })
  await expect(producer.add('', user('1'))).rejects.toMatchObject({ field: 'thread' })
  expect(() => producing({ batchMessagesMax: 501 })).toThrow(expect.objectContaining({ field: 'batchMessagesMax' }))
  expect(() => producing({ agent: '' })).toThrow(expect.objectContaining({ field: 'agent' }))
})

test('at the limits the next callers wait, and too many of them are refused', async () => {
  const gates: (() => void)[] = []
  const { clock, producer } = producing({ pendingMessagesMax: 2, batchMessagesMax: 1, batchAgeMs: 0 }, () => {
    return new Promise<void>((resolve) => gates.push(resolve))
  })
  const added = ['a', 'b', 'c', 'd', 'e'].map((thread) => outcome(producer.add(thread, user(thread))))
  expect(await added[4]).toBe('RATE_LIMITED')
  await clock.advance(0)
  expect(gates).toHaveLength(2)
  gates[0]?.()
  await clock.advance(0)
  expect(gates).toHaveLength(3)
  expect(await added[0]).toBe('acknowledged')
  await clock.advance(31_000)
  expect(await Promise.all(added.slice(1))).toEqual(['TIMEOUT', 'TIMEOUT', 'TIMEOUT', 'RATE_LIMITED'])
})

test('a flush sends pending and waiting messages at once; after a close no message is accepted', async () => {
  const { clock, producer, contents } = producing({ batchAgeMs: 60_000, pendingMessagesMax: 2 })
  const added = ['1', '2', '3'].map((content) => producer.add('t', user(content)))
  await clock.advance(0)
  expect(contents()).toEqual([])
  await producer.flush()
  await Promise.all(added)
  expect(contents().flat()).toEqual(['1', '2', '3'])
  const last = producer.add('t', user('4'))
  await producer.close()
  await last
  expect(await outcome(producer.add('t', user('5')))).toBe('SERVICE_UNAVAILABLE')
  expect(contents().flat()).toEqual(['1', '2', '3', '4'])
})
