import { newId, readAppend } from '@heddle/client/calls'
import type { Acknowledgement, NewMessage, Producer, ProducerOptions } from '@heddle/client/interface'
import { DEADLINE_MS_DEFAULT } from '@heddle/client/interface'
import { limits, nameSchema, parse, RetryableError, settingsSchema } from '@heddle/contracts'
import { threadIdOf } from '@heddle/core'
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import type { EngineContext } from '../setup/options.js'
import { Backpressure } from './backpressure.js'
import { sendJob } from './send-job.js'
import { MESSAGES_PER_JOB, measure, type SizedMessage } from './split-append.js'
import { type Batch, createThreadBatcher } from './thread-batcher.js'
import { windowWarnings } from './window-warnings.js'

const whole = (least: number, most: number) => z.int().min(least).max(most)

const optionsSchema = z.object({
  agent: nameSchema,
  ack: z.enum(['queued', 'stored'], { error: 'must be queued or stored' }).default('stored'),
  batchMessagesMax: whole(1, limits.messagesPerJobMax).default(MESSAGES_PER_JOB),
  batchAgeMs: whole(0, 60_000).default(10),
  pendingMessagesMax: whole(1, 1_000_000).default(10_000),
  pendingCharactersMax: whole(1, 1_000_000_000).default(64_000_000),
  deadlineMs: z.number().min(1).max(limits.waitMsMax).default(DEADLINE_MS_DEFAULT),
  newAgentRollingWindow: settingsSchema.shape.rollingWindow.optional(),
  onWarning: z
    .custom<NonNullable<ProducerOptions['onWarning']>>((value) => typeof value === 'function', 'must be a function')
    .optional(),
})

/** What a look at the window of a batch with old messages may take, in milliseconds. Nobody waits for it. */
const WARNING_MS_MAX = 5_000

/** Threads whose latest places are remembered. */
const THREADS_MAX = 10_000

/** @throws PermanentError `VALIDATION_ERROR` that names the option */
export function createProducer(parts: EngineContext, given: ProducerOptions): Producer {
  const options = parse(optionsSchema, given, 'producer')
  const { agent } = options
  const { clock, log, ordinals, projectId } = parts
  const room = new Backpressure({
    messagesMax: options.pendingMessagesMax,
    charactersMax: options.pendingCharactersMax,
  })
  const batches = createThreadBatcher({ ...options, clock, send })
  const latest = new LatestPlaces()
  const unsettled = new Set<Promise<unknown>>()
  let flushes = 0
  let isClosed = false

  async function send({ thread, messages, jsonCharacters, endsAtMs }: Batch): Promise<void> {
    parts
      .ensureProjectName()
      ?.catch((error: unknown) => log?.debug({ error }, 'the name of the project could not be told'))
    const { newAgentRollingWindow } = options
    const job = {
      projectId,
      requestId: newId(),
      agent,
      thread,
      messages: [...messages],
      newAgentRollingWindow,
    }
    const retryPolicy = { clock, endsAtMs, ack: options.ack, asksForRoom: true }
    await sendJob(parts, threadIdOf(projectId, thread), { job, bytes: jsonCharacters }, retryPolicy)
    if (options.onWarning === undefined) return
    warn(thread, messages, options.onWarning).catch((error: unknown) => log?.warn({ error }, 'onWarning failed'))
  }

  /** Warnings never keep a batch from being acknowledged. */
  async function warn(
    thread: string,
    placed: Batch['messages'],
    onWarning: NonNullable<ProducerOptions['onWarning']>,
  ): Promise<void> {
    const { newAgentRollingWindow } = options
    const append = { agent, thread, placed, newAgentRollingWindow, timeoutMs: WARNING_MS_MAX }
    for (const warning of await windowWarnings(parts, append)) onWarning({ thread, ...warning })
  }

  /** A message gets its place when it is handed in, and keeps it however long it waits. */
  function place(thread: string, message: NewMessage): SizedMessage & { threadId: string } {
    const input = readAppend({ agent, thread, messages: [message] })
    const [only] = input.messages
    if (only === undefined) throw new TypeError('one message in, none out')
    const threadId = threadIdOf(projectId, input.thread)
    const placeMs = latest.next(threadId, only.sentAt === undefined ? clock.nowMs() : Date.parse(only.sentAt))
    const ordinal = ordinals.next(threadId, { firstId: only.id, places: [placeMs], continues: true })
    const placed = { message: only, ordinal, orderedAt: new Date(placeMs).toISOString() }
    return { ...measure(placed, 'message'), threadId }
  }

  async function add(thread: string, message: NewMessage): Promise<Acknowledgement> {
    if (isClosed) throw new RetryableError('SERVICE_UNAVAILABLE', 'The producer is closed')
    const sized = place(thread, message)
    const { jsonCharacters } = sized
    const endsAtMs = clock.monotonicMs() + options.deadlineMs
    const leaving = new AbortController()
    await new Promise<void>((resolve, reject) => {
      const settle = (then: () => void) => {
        room.give(1, jsonCharacters)
        then()
      }
      const leave = room.take(jsonCharacters, () => {
        leaving.abort()
        batches.add({ ...sized, thread, endsAtMs }).then(
          () => settle(resolve),
          (error: unknown) => settle(() => reject(error)),
        )
        if (flushes > 0) void batches.flush()
      })
      if (leaving.signal.aborted) return
      clock.wait(options.deadlineMs, leaving.signal).then(
        () => {
          leave()
          reject(new RetryableError('TIMEOUT', `The producer had no room within ${options.deadlineMs} ms`))
        },
        () => {},
      )
    })
    return { threadId: sized.threadId, id: sized.placed.message.id }
  }

  async function flush(): Promise<void> {
    flushes++
    void batches.flush()
    await Promise.allSettled(unsettled)
    flushes--
  }

  return {
    add(thread, message) {
      const added = add(thread, message)
      unsettled.add(added)
      added.then(
        () => unsettled.delete(added),
        () => unsettled.delete(added),
      )
      return added
    },
    flush,
    close() {
      isClosed = true
      return flush()
    },
  }
}

/** Keeps the places of each thread from going back: a message may name an earlier time than the one before it. */
class LatestPlaces {
  // By size, as in `Ordinals`.
  readonly #latest = new LRUCache<string, number>({ maxSize: THREADS_MAX, sizeCalculation: () => 1 })

  next(threadId: string, ownMs: number): number {
    const placeMs = Math.max(ownMs, this.#latest.get(threadId) ?? Number.NEGATIVE_INFINITY)
    this.#latest.set(threadId, placeMs)
    return placeMs
  }
}
