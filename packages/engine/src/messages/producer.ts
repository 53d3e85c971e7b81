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

/** Time limit for the window warnings of a batch, in milliseconds. No caller waits for them. */
const WARNING_MS_MAX = 5_000

/** Threads whose latest positions are cached. */
const THREADS_MAX = 10_000

/** @throws PermanentError `VALIDATION_ERROR` that names the option */
export function createProducer(parts: EngineContext, given: ProducerOptions): Producer {
  const options = parse(optionsSchema, given, 'producer')
  const { agent } = options
  const { clock, log, ordinals, projectId } = parts
  const backpressure = new Backpressure({
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
      ?.catch((error: unknown) => log?.debug({ error }, 'the name of the project could not be stored'))
    const { newAgentRollingWindow } = options
    const job = {
      projectId,
      requestId: newId(),
      agent,
      thread,
      messages: [...messages],
      newAgentRollingWindow,
    }
    const retryPolicy = { clock, endsAtMs, ack: options.ack, waitsForCapacity: true }
    await sendJob(parts, threadIdOf(projectId, thread), { job, bytes: jsonCharacters }, retryPolicy)
    if (options.onWarning === undefined) return
    warn(thread, messages, options.onWarning).catch((error: unknown) => log?.warn({ error }, 'onWarning failed'))
  }

  /** A batch is acknowledged without waiting for its warnings. */
  async function warn(
    thread: string,
    placed: Batch['messages'],
    onWarning: NonNullable<ProducerOptions['onWarning']>,
  ): Promise<void> {
    const { newAgentRollingWindow } = options
    const append = { agent, thread, placed, newAgentRollingWindow, timeoutMs: WARNING_MS_MAX }
    for (const warning of await windowWarnings(parts, append)) onWarning({ thread, ...warning })
  }

  /** A message gets its position when it is added, and keeps it however long it waits. */
  function place(thread: string, message: NewMessage): SizedMessage & { threadId: string } {
    const input = readAppend({ agent, thread, messages: [message] })
    const [only] = input.messages
    if (only === undefined) throw new TypeError('no message was read')
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
        backpressure.release(1, jsonCharacters)
        then()
      }
      const leave = backpressure.acquire(jsonCharacters, () => {
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
          reject(new RetryableError('TIMEOUT', `The producer was at its limits for ${options.deadlineMs} ms`))
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

/** Keeps the positions of each thread in increasing order: a message may have an earlier time than the one before it. */
class LatestPlaces {
  // By size, as in `Ordinals`.
  readonly #latest = new LRUCache<string, number>({ maxSize: THREADS_MAX, sizeCalculation: () => 1 })

  next(threadId: string, ownMs: number): number {
    const placeMs = Math.max(ownMs, this.#latest.get(threadId) ?? Number.NEGATIVE_INFINITY)
    this.#latest.set(threadId, placeMs)
    return placeMs
  }
}
