import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { Client } from '@heddle/client/interface'
import { eventNumberSchema, eventsQuerySchema, type HeddleEvent, parse, RetryableError } from '@heddle/contracts'
import { type Clock, ProjectSlots, within } from '@heddle/runtime'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** Streams that one process keeps open; each costs a connection and a few reads. */
const STREAMS_MAX = 200
/** Of one project, so that it leaves some to the others. */
const STREAMS_OF_PROJECT_MAX = 50
/** Who takes nothing of what was sent for so long is let go, and comes again with the number of the last event. */
const TAKE_MS_MAX = 30_000
/** Streams that one project opens at once, and readings of the log for all its streams. */
const READINGS = { calm: 2, crowded: 1, alone: 8 }
/** Proxies and browsers take a silent connection for a dead one. */
const BEAT_EVERY_MS = 15_000
/** How often the caller of an open stream is looked at again: a key may be revoked while it is open. */
const ADMIT_EVERY_MS = 1_000
/** How soon a browser comes again after the stream broke. */
const RETRY_MS = 2_000

/** The streams of events that are open. */
export class EventStreams {
  /** With the project of each. */
  readonly #open = new Map<AbortController, string>()
  readonly #clock: Clock
  readonly #readings: ProjectSlots
  /** A reading may be slow; it does not keep other streams from being opened. */
  readonly #openings: ProjectSlots

  constructor(clock: Clock) {
    this.#clock = clock
    this.#readings = new ProjectSlots({ ...READINGS, clock })
    this.#openings = new ProjectSlots({ ...READINGS, clock })
  }

  get size(): number {
    return this.#open.size
  }

  /** Ends all streams; who listened comes again, elsewhere or later. */
  close(): void {
    for (const stream of this.#open.keys()) stream.abort()
  }

  /**
   * Answers with the events of a project until the caller goes, or would not be let in any more, or {@link close}.
   *
   * @param isAdmitted whether the caller would be let in now; never throws
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
      // Who went away while the stream was being opened is told nothing, and that is no fault of anybody.
      if (!isGone) throw error
      reply.hijack()
    } finally {
      ending.abort()
      this.#open.delete(ending)
    }
  }

  async #endWhenRefused(ending: AbortController, isAdmitted: () => Promise<boolean>): Promise<void> {
    while (!ending.signal.aborted) {
      // The wait fails where the stream ends meanwhile.
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
  // A number without an event: whoever loses the stream before the first one comes again with it.
  raw.write(`retry: ${RETRY_MS}\n${events.after === undefined ? '' : `id: ${events.after}\n`}\n`)
  const beat = setInterval(() => raw.write(': still here\n\n'), BEAT_EVERY_MS)
  try {
    for await (const event of events) {
      const isTaken = raw.write(`id: ${event.number}\nevent: ${event.topic}\ndata: ${JSON.stringify(event)}\n\n`)
      // Nothing more is read from the log until the caller has taken what it was sent.
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
  return new RetryableError('RATE_LIMITED', `at most ${count} streams of events${owner} are open at once`, {
    retryAfter: 5,
    hint: 'Close streams that nobody reads.',
  })
}
