import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { Client } from '@heddle/client/interface'
import { eventNumberSchema, eventsQuerySchema, type HeddleEvent, parse, RetryableError } from '@heddle/contracts'
import { type Clock, ProjectSlots, within } from '@heddle/runtime'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** Streams that one process keeps open; each costs a connection and a few reads. */
const STREAMS_MAX = 200
/** Streams of one project, so that it leaves some to the others. */
const STREAMS_OF_PROJECT_MAX = 50
/** A client that reads nothing for this long is disconnected; it can resume from its last event number. */
const TAKE_MS_MAX = 30_000
/** Slots of one project for opening streams, and for reading the log for all its streams. */
const READINGS = { calm: 2, crowded: 1, alone: 8 }
/** Interval of heartbeats: proxies and browsers consider a silent connection dead. */
const BEAT_EVERY_MS = 15_000
/** How often the key of an open stream is checked again, because it may have been revoked. */
const ADMIT_EVERY_MS = 1_000
/** Delay after which a browser reconnects a broken stream. */
const RETRY_MS = 2_000

export class EventStreams {
  /** Open streams and the project of each. */
  readonly #open = new Map<AbortController, string>()
  readonly #clock: Clock
  readonly #readings: ProjectSlots
  /** Separate from reading, so that slow reads do not delay the opening of streams. */
  readonly #openings: ProjectSlots

  constructor(clock: Clock) {
    this.#clock = clock
    this.#readings = new ProjectSlots({ ...READINGS, clock })
    this.#openings = new ProjectSlots({ ...READINGS, clock })
  }

  get size(): number {
    return this.#open.size
  }

  /** Ends all streams; clients reconnect later or to another gateway. */
  close(): void {
    for (const stream of this.#open.keys()) stream.abort()
  }

  /**
   * Streams the events of a project until the caller disconnects, loses its access, or {@link close} is called.
   *
   * @param isAdmitted whether the caller still has access; never throws
   * @throws PermanentError `VALIDATION_ERROR`, RetryableError `SERVICE_UNAVAILABLE`, before anything was sent
   */
  async answer(
    request: FastifyRequest,
    reply: FastifyReply,
    { project, client, isAdmitted }: { project: string; client: Client; isAdmitted: () => Promise<boolean> },
  ): Promise<void> {
    const { topics, thread, agent, after } = parse(eventsQuerySchema, request.query, 'query')
    const lastId = request.headers['last-event-id']
    const known = lastId === undefined || lastId === '' ? after : parse(eventNumberSchema, lastId, 'last-event-id')
    if (this.#open.size >= STREAMS_MAX) throw tooManyStreams(STREAMS_MAX)
    const own = [...this.#open.values()].filter((other) => other === project).length
    if (own >= STREAMS_OF_PROJECT_MAX) throw tooManyStreams(STREAMS_OF_PROJECT_MAX, ' of a project')
    const ending = new AbortController()
    this.#open.set(ending, project)
    let isGone = false
    reply.raw.once('close', () => {
      isGone = true
      ending.abort()
    })
    void this.#endWhenRefused(ending, isAdmitted)
    try {
      const options = {
        signal: ending.signal,
        inTurn: <T>(work: () => Promise<T>, signal: AbortSignal) => this.#readings.run(project, work, signal),
        topics,
        thread,
        agent,
        after: known,
      }
      const open = () => client.events.follow(options)
      const events = await this.#openings.run(project, open, ending.signal)
      reply.hijack()
      await send(reply, events, { signal: ending.signal, clock: this.#clock })
    } catch (error) {
      // A caller that disconnected while the stream was being opened gets no answer, and that is no error.
      if (!isGone) throw error
      reply.hijack()
    } finally {
      ending.abort()
      this.#open.delete(ending)
    }
  }

  async #endWhenRefused(ending: AbortController, isAdmitted: () => Promise<boolean>): Promise<void> {
    while (!ending.signal.aborted) {
      // The wait rejects if the stream ends meanwhile.
      await this.#clock.wait(ADMIT_EVERY_MS, ending.signal).catch(() => undefined)
      if (!ending.signal.aborted && !(await isAdmitted())) ending.abort()
    }
  }
}

async function send(
  reply: FastifyReply,
  events: AsyncIterable<HeddleEvent> & { readonly after?: number },
  { signal, clock }: { signal: AbortSignal; clock: Clock },
): Promise<void> {
  const { raw } = reply
  raw.writeHead(200, {
    ...(reply.getHeaders() as Record<string, string>),
    'content-type': 'text/event-stream; charset=utf-8',
    'x-accel-buffering': 'no',
  })
  // An id without an event: a client that loses the stream before the first event resumes from it.
  raw.write(`retry: ${RETRY_MS}\n${events.after === undefined ? '' : `id: ${events.after}\n`}\n`)
  const beat = setInterval(() => raw.write(': still here\n\n'), BEAT_EVERY_MS)
  try {
    for await (const event of events) {
      const isTaken = raw.write(`id: ${event.number}\nevent: ${event.topic}\ndata: ${JSON.stringify(event)}\n\n`)
      // The log is not read further until the caller has received the events already sent.
      if (!isTaken) await drained(raw, { signal, clock })
    }
  } finally {
    clearInterval(beat)
    raw.end()
  }
}

async function drained(raw: ServerResponse, { signal, clock }: { signal: AbortSignal; clock: Clock }): Promise<void> {
  const taken = once(raw, 'drain', { signal }).then(
    () => undefined,
    () => undefined,
  )
  await within(taken, { timeoutMs: TAKE_MS_MAX, late: () => void raw.destroy(), clock })
}

function tooManyStreams(count: number, owner = ''): RetryableError {
  return new RetryableError('RATE_LIMITED', `at most ${count} event streams${owner} may be open at once`, {
    retryAfter: 5,
    hint: 'Close streams that are not read.',
  })
}
