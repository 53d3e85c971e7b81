import { type IngestJob, type MessageInput, parse, placedMessageSchema, roles } from '@heddle/contracts'
import {
  CLOCK_LEAD_MS_MAX,
  comparePositions,
  inConversationOrder,
  messageFingerprint,
  projectIdOf,
  proposePlaces,
  readConversation,
  threadIdOf,
} from '@heddle/core'
import { createIngestWorker } from '@heddle/ingest'
import { openQueues, type Queues } from '@heddle/queue'
import { createLogger, systemClock } from '@heddle/runtime'
import { existingMessages, listHistory, migrate, openStore, type Store } from '@heddle/store'
import { backends, freshDatabase, freshPrefix } from '@heddle/test-support'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newId } from './store/support.js'

const PROJECT = projectIdOf('ingest order')
const WORKERS = 3
/** When the clients of these tests sent their messages, but for the offsets of their clocks. */
const SENT_AT_MS = Date.parse('2026-02-12T14:30:00Z')
const DEADLINE_MS = 20_000

/** Offset of a client's clock in hours; null for a client that sends no time. */
const skews = [null, 0, 0, -1, 1, -24 * 365 * 30, 24 * 365 * 70]

interface Draft {
  readonly role: (typeof roles)[number]
  readonly skewHours: number | null
  readonly content: string
}

const drafts = fc.array(
  fc.record<Draft>({
    role: fc.constantFrom(...roles),
    skewHours: fc.constantFrom(...skews),
    content: fc.string({ unit: 'binary', maxLength: 20 }),
  }),
  { minLength: 1, maxLength: 24, size: 'max' },
)

/** The path of a conversation: cut into appends, each into jobs, some sent again, in any order. */
const journeys = fc.record({
  appendSizes: fc.array(fc.integer({ min: 1, max: 8 }), { minLength: 1, maxLength: 8 }),
  jobSizes: fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 8 }),
  again: fc.array(fc.nat(), { maxLength: 8 }),
  order: fc.array(fc.nat(), { minLength: 40, maxLength: 40 }),
})

type Placed = IngestJob['messages'][number]

function inPieces<Value>(values: readonly Value[], sizes: readonly number[]): Value[][] {
  const pieces: Value[][] = []
  for (let at = 0, piece = 0; at < values.length; piece++) {
    const size = sizes[piece % sizes.length] ?? 1
    pieces.push(values.slice(at, at + size))
    at += size
  }
  return pieces
}

function messageOf({ role, skewHours, content }: Draft, index: number): MessageInput {
  const call = { id: `call ${index}`, name: 'Read', arguments: {} }
  return {
    id: newId(),
    role,
    content,
    ...(role === 'tool_use' && { toolCalls: [call] }),
    ...(role === 'tool_result' && { toolCallId: `call ${index - 1}` }),
    ...(skewHours !== null && { sentAt: new Date(SENT_AT_MS + skewHours * 3_600_000 + index).toISOString() }),
  }
}

/** Positions the messages of one append like the SDK. */
function place(messages: readonly MessageInput[]): Placed[] {
  const sentAtMs = messages.map(({ sentAt }) => (sentAt === undefined ? null : Date.parse(sentAt)))
  const places = proposePlaces(sentAtMs, SENT_AT_MS)
  return messages.map((message, ordinal) => {
    const orderedAt = new Date(places[ordinal] ?? 0).toISOString()
    return parse(placedMessageSchema, { message, ordinal, orderedAt }, 'message')
  })
}

/** The expected position of a message: the proposed one on every path, unless its time is in the future of the database. */
function positionOf({ message, ordinal, orderedAt }: Placed, receivedAtMs: number) {
  return { id: message.id, ordinal, orderedAtMs: Math.min(Date.parse(orderedAt), receivedAtMs + CLOCK_LEAD_MS_MAX) }
}

describe.each(backends())('ingest workers on $title', ({ skip, open }) => {
  let producer: Queues
  let store: Store
  const closers: (() => Promise<unknown>)[] = []

  beforeAll(async () => {
    if (skip) return
    const [database, queue] = [await freshDatabase(), await open()]
    await migrate({ url: database.url })
    const prefix = freshPrefix()
    const log = createLogger({ level: 'fatal', name: 'test' })
    const openSide = async () => ({
      store: openStore({ url: database.url, connectionsMax: 4 }),
      queues: await openQueues({ backend: queue, prefix, log, create: true }),
    })
    const side = await openSide()
    producer = side.queues
    store = side.store
    for (let worker = 0; worker < WORKERS; worker++) {
      const own = await openSide()
      const running = await createIngestWorker({
        ...own,
        clock: systemClock,
        log,
        concurrency: 8,
        recordDeadLetter: async () => {},
      })
      closers.push(async () => {
        await running.close()
        await own.queues.close()
        await own.store.close()
      })
    }
    closers.push(async () => {
      await producer.destroy()
      await store.close()
      await queue.drop()
      await database.drop()
    })
  })
  afterAll(async () => {
    await Promise.all(closers.slice(0, -1).map((close) => close()))
    await closers.at(-1)?.()
  })

  let threads = 0
  const jobOf = (thread: string, messages: Placed[]): IngestJob => ({
    projectId: PROJECT,
    requestId: newId(),
    agent: 'weaver',
    thread,
    messages,
  })

  /** Sends a job and waits for its worker's reply. */
  async function send(job: IngestJob): Promise<'stored' | { code: string; field?: string }> {
    const again = { ...job, requestId: newId() }
    const expected = producer.expectReply<'stored'>({
      requestId: again.requestId,
      deadlineMs: DEADLINE_MS,
      whenOk: 'stored',
      read: async () => undefined,
    })
    await producer.add('ingest', { ...again, replyTo: producer.inbox })
    return await expected.result.catch((error: { code: string; field?: string }) => error)
  }

  async function readThread(thread: string) {
    const threadId = threadIdOf(PROJECT, thread)
    return await store.inProject(PROJECT, async (tx) => {
      const page = await listHistory(tx, { threadId, limit: 500, order: 'asc' })
      const messages = page?.messages ?? []
      const fingerprints = await existingMessages(tx, { threadId, ids: messages.map(({ id }) => id) })
      return { messages, fingerprints }
    })
  }

  it.skipIf(skip)(
    'store the same conversation, whatever the batches, the order, the repeats and the races of its messages',
    async () => {
      await fc.assert(
        fc.asyncProperty(drafts, journeys, async (given, { appendSizes, jobSizes, again, order }) => {
          const thread = `thread ${++threads}`
          const placed = inPieces(given.map(messageOf), appendSizes).map(place)
          const jobs = placed.flatMap((append) => inPieces(append, jobSizes)).map((some) => jobOf(thread, some))
          const sent = [...jobs, ...again.flatMap((index) => jobs[index % jobs.length] ?? [])]
          const mixed = sent.map((job, index) => ({ job, key: order[index % order.length] ?? 0 }))
          mixed.sort((left, right) => left.key - right.key)
          const sentAtMs = Date.now()
          const answers = await Promise.all(mixed.map(({ job }) => send(job)))
          expect(new Set(answers)).toEqual(new Set(['stored']))

          const { messages, fingerprints } = await readThread(thread)
          const receivedAtMs = new Map(messages.map((stored) => [stored.id, stored.receivedAtMs]))
          const positioned = placed.flat().map((own) => ({
            message: own.message,
            position: positionOf(own, receivedAtMs.get(own.message.id) ?? Number.NaN),
          }))
          const expected = positioned.sort((left, right) => comparePositions(left.position, right.position))
          expect(messages.map(({ id, content }) => [id, content])).toEqual(
            expected.map(({ message }) => [message.id, message.content]),
          )
          expect(inConversationOrder(messages)).toEqual(messages)
          const seqs = messages.map(({ seq }) => seq).sort((left, right) => left - right)
          expect(seqs).toEqual(messages.map((_, index) => index + 1))
          for (const [index, { message, position }] of expected.entries()) {
            const stored = messages[index]
            expect(stored?.orderedAtMs).toBe(position.orderedAtMs)
            expect(stored?.receivedAtMs).toBeGreaterThanOrEqual(sentAtMs)
            expect(stored?.receivedAtMs).toBeLessThanOrEqual(Date.now())
            // The client's time is stored, however wrong it is.
            expect(stored?.sentAtMs).toBe(message.sentAt === undefined ? null : Date.parse(message.sentAt))
            expect(fingerprints.get(message.id)).toBe(messageFingerprint(message))
          }
        }),
        { numRuns: 25 },
      )
    },
  )

  it.skipIf(skip)('store one of two messages with the same id, and nothing of the append that lost', async () => {
    for (let round = 0; round < 20; round++) {
      const thread = `contested ${round}`
      const id = newId()
      const appends = ['first', 'second'].map((content) => {
        const own = { id: newId(), role: 'user' as const, content: `before ${content}` }
        return jobOf(thread, place([own, { id, role: 'user', content }]))
      })
      const answers = await Promise.all(appends.map(send))
      expect(answers.filter((answer) => answer === 'stored')).toHaveLength(1)
      expect(answers.find((answer) => answer !== 'stored')).toMatchObject({ code: 'CONFLICT', field: 'messages.1.id' })
      const winner = appends[answers.indexOf('stored')]
      const { messages } = await readThread(thread)
      expect(messages.map(({ content }) => content)).toEqual(winner?.messages.map(({ message }) => message.content))
    }
  })

  it.skipIf(skip)('store two messages for one id in two threads, also at the same moment', async () => {
    for (let round = 0; round < 20; round++) {
      const id = newId()
      const names = [`left ${round}`, `right ${round}`]
      const answers = await Promise.all(
        names.map((name) => send(jobOf(name, place([{ id, role: 'user', content: name }])))),
      )
      expect(answers).toEqual(['stored', 'stored'])
      for (const name of names) {
        expect((await readThread(name)).messages.map(({ id, content }) => [id, content])).toEqual([[id, name]])
      }
    }
  })

  it.skipIf(skip)('keep a tool result after its call, also when the clock of the result is earlier', async () => {
    const at = (offsetMs: number) => new Date(SENT_AT_MS + offsetMs).toISOString()
    const calls = [{ id: 'call', name: 'Read', arguments: {} }]
    const call = { id: newId(), role: 'assistant' as const, content: '', toolCalls: calls, sentAt: at(-1_000) }
    const result = {
      id: newId(),
      role: 'tool_result' as const,
      content: 'text',
      toolCallId: 'call',
      sentAt: at(-60_000),
    }
    await send(jobOf('one append', place([call, result])))
    expect((await readThread('one append')).messages.map(({ id }) => id)).toEqual([call.id, result.id])

    await Promise.all([place([result]), place([call])].map((placed) => send(jobOf('two appends', placed))))
    const { messages } = await readThread('two appends')
    expect(readConversation(messages).pairs.byResult.get(result.id)?.callMessage.id).toBe(call.id)
  })
})
