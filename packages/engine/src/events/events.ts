import { type FollowedEvents, type FollowOptions, followSchema } from '@heddle/client/interface'
import { type EventTopic, eventTopics, type FollowedEvent, type HeddleEvent, parse } from '@heddle/contracts'
import { agentIdOf, threadIdOf } from '@heddle/core'
import { within } from '@heddle/runtime'
import { eventsOfAgent, latestEventNumber, loadEventsAfter, namesOfEvents } from '@heddle/store'
import type { EngineContext } from '../setup/options.js'

/** Events that are read at once. */
const PAGE_EVENTS = 500
/** How often the log is polled, because notifications between processes may be lost. */
const POLL_EVERY_MS = 5_000

/**
 * Yields the events of the project in the order of their numbers, first those in the log and then new ones. Notifications
 * between processes only trigger a read: all events are read from the log, so none is missing or repeated, and none are
 * buffered here while the caller is busy.
 *
 * A number after the latest belongs to an earlier log, so the current one is read from its beginning.
 *
 * @returns once the subscription is active: all later events will be yielded
 * @throws PermanentError `VALIDATION_ERROR`; RetryableError `SERVICE_UNAVAILABLE` if a server is down
 */
export async function followEvents(parts: EngineContext, options: FollowOptions): Promise<FollowedEvents> {
  const { signal, inTurn = (work) => work() } = options
  const { topics, thread, agent, after } = parse(followSchema, options, 'events')
  const { store, queues, projectId } = parts
  signal.throwIfAborted()
  const wakeUp = new Signal(parts)
  const unsubscribe = await queues.subscribe(projectId, () => wakeUp.notify())
  const end = () => {
    wakeUp.notify()
    unsubscribe().catch((error: unknown) => parts.log?.debug({ error }, 'ending a subscription to events failed'))
  }
  signal.addEventListener('abort', end, { once: true })
  try {
    signal.throwIfAborted()
    const latest = await store.inProject(projectId, (tx) => latestEventNumber(tx, { projectId }))
    const first = after === undefined ? latest : after > latest ? 0 : after
    const events = read(parts, wakeUp, {
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
  wakeUp: Signal,
  { topics, threadId, agentId, after, signal, inTurn }: Reading,
): AsyncGenerator<FollowedEvent> {
  let number = after
  while (!signal.aborted) {
    wakeUp.reset()
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
    if (events.length < PAGE_EVENTS && !signal.aborted) await wakeUp.whenNotified(POLL_EVERY_MS)
  }
}

/** @returns null if it failed because the reader has disconnected */
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
  /** Whether an event belongs to the requested agent; true without one. */
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

/** Merges notifications until the next wait, including those that arrived before it. */
class Signal {
  readonly #clock: EngineContext['clock']
  #isNotified = false
  #wake: (() => void) | null = null

  constructor({ clock }: Pick<EngineContext, 'clock'>) {
    this.#clock = clock
  }

  notify(): void {
    this.#isNotified = true
    this.#wake?.()
  }

  reset(): void {
    this.#isNotified = false
  }

  async whenNotified(withinMs: number): Promise<void> {
    if (this.#isNotified) return
    const woken = new Promise<void>((resolve) => {
      this.#wake = resolve
    })
    await within(woken, { timeoutMs: withinMs, late: () => {}, clock: this.#clock })
    this.#wake = null
  }
}
