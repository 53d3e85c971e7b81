import { type FollowedEvents, type FollowOptions, followSchema } from '@heddle/client/interface'
import { type EventTopic, eventTopics, type FollowedEvent, type HeddleEvent, parse } from '@heddle/contracts'
import { agentIdOf, threadIdOf } from '@heddle/core'
import { within } from '@heddle/runtime'
import { eventsOfAgent, latestEventNumber, loadEventsAfter, namesOfEvents } from '@heddle/store'
import type { EngineContext } from '../setup/options.js'

/** Events that are read at once. */
const PAGE_EVENTS = 500
/** Messages between processes may be lost, the log may not: it is looked at so often whatever happens. */
const POLL_EVERY_MS = 5_000

/**
 * Gives the events of the project in the order of their numbers, those of the log first and then each as it happens. What
 * is told between processes only says that it is time to look: all that is given comes from the log, so nothing is left
 * out or given twice, and nothing gathers here while the caller is busy.
 *
 * A number past the latest is of a log that is gone: the present one is given from its beginning.
 *
 * @returns once nothing can be missed any more: what happens from now on will be given
 * @throws PermanentError `VALIDATION_ERROR`; RetryableError `SERVICE_UNAVAILABLE` where a server is away
 */
export async function followEvents(parts: EngineContext, options: FollowOptions): Promise<FollowedEvents> {
  const { signal, inTurn = (work) => work() } = options
  const { topics, thread, agent, after } = parse(followSchema, options, 'events')
  const { store, queues, projectId } = parts
  signal.throwIfAborted()
  const bell = new Signal(parts)
  const unsubscribe = await queues.subscribe(projectId, () => bell.ring())
  const end = () => {
    bell.ring()
    unsubscribe().catch((error: unknown) => parts.log?.debug({ error }, 'a subscription to events did not end well'))
  }
  signal.addEventListener('abort', end, { once: true })
  try {
    signal.throwIfAborted()
    const latest = await store.inProject(projectId, (tx) => latestEventNumber(tx, { projectId }))
    const first = after === undefined ? latest : after > latest ? 0 : after
    const events = read(parts, bell, {
      topics: new Set(topics ?? eventTopics),
      threadId: thread === undefined ? null : threadIdOf(projectId, thread),
      agentId: agent === undefined ? null : agentIdOf(projectId, agent),
      after: first,
      signal,
      inTurn,
    })
    return Object.assign(events, { after: first })
  } catch (error) {
    signal.removeEventListener('abort', end)
    end()
    throw error
  }
}

interface Reading {
  readonly topics: ReadonlySet<EventTopic>
  readonly threadId: string | null
  readonly agentId: string | null
  readonly after: number
  readonly signal: AbortSignal
  readonly inTurn: NonNullable<FollowOptions['inTurn']>
}

async function* read(
  parts: EngineContext,
  bell: Signal,
  { topics, threadId, agentId, after, signal, inTurn }: Reading,
): AsyncGenerator<FollowedEvent> {
  let number = after
  while (!signal.aborted) {
    bell.reset()
    const page = await unlessAborted(
      inTurn(() => readPage(parts, number, agentId), signal),
      signal,
    )
    if (page === null) return
    const { events, isOwn } = page
    for (const event of events) {
      if (signal.aborted) return
      number = event.number
      if (topics.has(event.topic) && (threadId === null || event.threadId === threadId) && isOwn(event)) yield event
    }
    if (events.length < PAGE_EVENTS && !signal.aborted) await bell.whenRung(POLL_EVERY_MS)
  }
}

/** @returns null where it failed because the reader has gone */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | null> {
  try {
    return await work
  } catch (error) {
    if (signal.aborted) return null
    throw error
  }
}

interface EventPage {
  readonly events: readonly FollowedEvent[]
  /** Whether an event is of the agent, where only those are wanted. */
  isOwn(event: HeddleEvent): boolean
}

async function readPage(
  { store, projectId }: EngineContext,
  number: number,
  agentId: string | null,
): Promise<EventPage> {
  return await store.inProject(projectId, async (tx) => {
    const rows = await loadEventsAfter(tx, { projectId, number, limit: PAGE_EVENTS })
    if (rows.length === 0) return { events: [], isOwn: () => true }
    const names = await namesOfEvents(tx, rows)
    const events = rows.map((event) => ({ ...event, ...(names.get(event.number) ?? { thread: null, agent: null }) }))
    if (agentId === null) return { events, isOwn: () => true }
    const own = await eventsOfAgent(tx, { agentId, events })
    return { events, isOwn: (event) => own.has(event.number) }
  })
}

/** Rung any number of times, it is heard once; also if nobody listened at that moment. */
class Signal {
  readonly #clock: EngineContext['clock']
  #isRung = false
  #wake: (() => void) | null = null

  constructor({ clock }: Pick<EngineContext, 'clock'>) {
    this.#clock = clock
  }

  ring(): void {
    this.#isRung = true
    this.#wake?.()
  }

  reset(): void {
    this.#isRung = false
  }

  async whenRung(withinMs: number): Promise<void> {
    if (this.#isRung) return
    const woken = new Promise<void>((resolve) => {
      this.#wake = resolve
    })
    await within(woken, { timeoutMs: withinMs, late: () => {}, clock: this.#clock })
    this.#wake = null
  }
}
