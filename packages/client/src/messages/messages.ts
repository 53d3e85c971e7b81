import {
  type AppendWarning,
  ConflictError,
  type IngestJob,
  type MessageInput,
  type PlacedMessage,
} from '@heddle/contracts'
import { messageFingerprint, proposePlaces, threadIdOf } from '@heddle/core'
import { loadThread } from '@heddle/store'
import { type AppendInput, readAppend } from '../calls/append-input.js'
import { countedAsAppended, countedAsEntries } from '../calls/fault-places.js'
import { newId } from '../calls/ids.js'
import { isWorthRetrying, type Patience, persist } from '../calls/retrying.js'
import type { FormEntries } from '../forms/entries.js'
import type { FormName } from '../forms/index.js'
import { type ClientParts, DEADLINE_MS_DEFAULT } from '../setup/options.js'
import { storedOf } from './looking.js'
import { type Ack, type OutgoingJob, type SendOptions, sendJob } from './sending.js'
import { measure, type Parcel, type SizedMessage, split } from './splitting.js'
import { windowWarnings } from './window-warnings.js'

export type AppendOptions = AppendSettings & AppendMessages

/** A message to be appended; without an id it gets one, and is then a message of its own each time it is appended. */
export type NewMessage = Omit<MessageInput, 'id'> & { readonly id?: string }

/** Messages, and the form that they are in. */
export type AppendMessages =
  | { readonly format?: 'neutral'; readonly messages: readonly NewMessage[] }
  | {
      [Form in FormName]: {
        /**
         * The form of a provider's package: messages of requests, and replies as they came. One entry may be several messages
         * here, such as a turn with the results of three calls. What has an id of the provider's is stored once however often
         * it is appended; the others get new ids.
         */
        readonly format: Form
        readonly messages: readonly FormEntries[Form][]
      }
    }[FormName]

export interface AppendSettings {
  readonly agent: string
  readonly thread: string
  /**
   * The context that the replies in this append answered: what a provider reports of a reply's tokens counts where its
   * context is known.
   */
  readonly contextId?: string
  /** Gives messages without an id one that is made of this key and their places: sent again under it, they are stored once. */
  readonly idempotencyKey?: string
  /**
   * `queued`: the queue has them, whether or not the store is there; `stored`: they are committed. Only `stored` survives
   * everything, and only `stored` tells of an id that is taken: under `queued` such an append becomes a dead letter.
   * Default `stored`.
   */
  readonly ack?: Ack
  /**
   * Says of ids that the caller chose that they are new: messages under chosen ids are looked up before
   * anything is sent, and these are not. Each is stored once all the same, but counts as `stored` though it may have been there
   * before. Default false.
   */
  readonly idsAreNew?: boolean
  /** How long to wait, in milliseconds; what is not acknowledged is sent again and again until then. Default 30,000. */
  readonly deadlineMs?: number
  /**
   * While the queue is full: `wait` for room until the deadline, or `fail` with `RATE_LIMITED` before anything is sent.
   * Default `wait` for `stored`, whose caller waits anyway, and `fail` for `queued`, whose caller wants to be gone.
   */
  readonly onBusy?: 'wait' | 'fail'
  /** The rolling window, in seconds, of an agent that this append creates; null for none. */
  readonly newAgentRollingWindow?: number | null
  /**
   * A further part of something longer: its first message comes after the last one that this client appended to the thread,
   * whatever time it names. Default false.
   */
  readonly continues?: boolean
  /** When the append began: the place in time of messages without `sentAt`. Default now. */
  readonly startedAtMs?: number
  readonly signal?: AbortSignal
  /** Told with each job that was acknowledged: how many messages were until then. */
  readonly onProgress?: (acknowledged: number) => void
}

export interface AppendResult {
  readonly threadId: string
  /** Messages that this append added; with `ack: 'queued'` those that were sent. */
  readonly stored: number
  /** Messages that were stored before, where nobody looks with `ack: 'queued'`, or that stand in this append before. */
  readonly repeated: number
  /** Messages of this append that contexts do not show, by reason. Left out where there are none, or none are known. */
  readonly warnings?: readonly AppendWarning[]
}

const noIds: ReadonlySet<string> = new Set()

/** What a look at the window of old messages may take, in milliseconds. Who only queues does not wait for a store that is away. */
const WARNING_MS_MAX: Readonly<Record<Ack, number>> = { stored: 1_000, queued: 200 }

/** Jobs of one append under way at once. */
const JOBS_IN_FLIGHT_MAX = 16

/**
 * Appends messages to a thread, in their order, exactly once however often they are sent.
 *
 * @throws PermanentError `VALIDATION_ERROR` or `PAYLOAD_TOO_LARGE` that names the message, before anything is sent
 * @throws ConflictError where an id is taken by another message, of the thread or of the append
 * @throws RetryableError `TIMEOUT` where not all are known to be stored by the deadline; `RATE_LIMITED` with `retryAfter`
 *   where the queue is full; `SERVICE_UNAVAILABLE` where a server is away. Appending the same ids again is harmless
 */
export async function appendMessages(parts: ClientParts, options: AppendOptions): Promise<AppendResult> {
  const input = readAppend(options)
  const { ack = 'stored', onBusy = ack === 'stored' ? 'wait' : 'fail', onProgress } = options
  const { agent, thread, newAgentRollingWindow, chosenIds } = input
  const given = place(parts, threadIdOf(parts.projectId, thread), input)
  try {
    const appended = await appendPlaced(
      parts,
      { agent, thread, given, chosenIds, newAgentRollingWindow, idsAreNew: options.idsAreNew },
      { ...patienceOf(parts, options), ack, asksForRoom: onBusy === 'wait' },
      onProgress,
    )
    const timeoutMs = WARNING_MS_MAX[ack]
    const warnings = await windowWarnings(parts, { agent, thread, placed: given, newAgentRollingWindow, timeoutMs })
    return warnings.length === 0 ? appended : { ...appended, warnings }
  } catch (error) {
    throw countedAsEntries(error, input.entries)
  }
}

/** Messages that have their places already. */
export interface PlacedAppend extends Pick<AppendInput, 'agent' | 'thread' | 'chosenIds'> {
  readonly given: readonly PlacedMessage[]
  readonly newAgentRollingWindow?: number | null | undefined
  /** None of the chosen ids needs to be looked up. */
  readonly idsAreNew?: boolean | undefined
}

/** Appends messages at places that were given to them; see {@link appendMessages}. */
export async function appendPlaced(
  parts: ClientParts,
  append: PlacedAppend,
  options: SendOptions,
  onProgress?: AppendSettings['onProgress'],
): Promise<AppendResult> {
  const given = append.given.map((one, index) => measure(one, `messages.${index}`))
  const bytes = given.reduce((sum, { jsonCharacters }) => sum + jsonCharacters, 0)
  const giveBack = tryShare(parts, bytes, options) ?? (await persist(async () => takeShare(parts, bytes), options))
  try {
    return await appendMeasured(parts, append, given, options, onProgress)
  } finally {
    giveBack()
  }
}

/** @returns gives the share back @throws RetryableError `RATE_LIMITED` where there is none */
function takeShare({ queues, projectId }: ClientParts, bytes: number): () => void {
  return queues.takeShare({ stage: 'ingest', projectId, bytes })
}

/** @returns undefined where there is none now and the caller waits for room */
function tryShare(parts: ClientParts, bytes: number, { asksForRoom }: SendOptions): (() => void) | undefined {
  try {
    return takeShare(parts, bytes)
  } catch (error) {
    if (asksForRoom && isWorthRetrying(error)) return undefined
    throw error
  }
}

async function appendMeasured(
  parts: ClientParts,
  append: PlacedAppend,
  given: readonly SizedMessage[],
  options: SendOptions,
  onProgress: AppendSettings['onProgress'],
): Promise<AppendResult> {
  const { ack, asksForRoom } = options
  const threadId = threadIdOf(parts.projectId, append.thread)
  const messages = append.chosenIds.size === 0 ? given : withoutRepeats(given)
  const mayBeStored = append.chosenIds.size > 0 && append.idsAreNew !== true
  if (ack === 'stored' && parts.tellProject() !== null) await persist(async () => await parts.tellProject(), options)
  const known = ack === 'stored' && mayBeStored ? await lookUp(parts, threadId, append, options) : noIds
  const fresh = known.size === 0 ? messages : messages.filter(({ placed }) => !known.has(placed.message.id))
  if (ack === 'stored' && fresh.length === 0) await checkAgent(parts, threadId, append.agent, options)
  if (ack === 'queued') tellProjectMeanwhile(parts)

  const jobs = split(fresh).map((parcel) => jobOf(parts, append, parcel))
  if (!asksForRoom && jobs.length > 0) {
    await parts.queues.admit({ jobs: jobs.length, bytes: jobs.reduce((sum, { bytes }) => sum + bytes, 0) })
  }
  options.signal?.throwIfAborted()
  await sendAll(parts, threadId, { jobs, places: append.given }, options, onProgress)
  return { threadId, stored: fresh.length, repeated: given.length - fresh.length }
}

function jobOf(parts: ClientParts, append: PlacedAppend, { messages, jsonCharacters }: Parcel): OutgoingJob {
  const { agent, thread, newAgentRollingWindow } = append
  const job: IngestJob = { projectId: parts.projectId, requestId: newId(), agent, thread, messages }
  if (newAgentRollingWindow !== undefined) job.newAgentRollingWindow = newAgentRollingWindow
  return { job, bytes: jsonCharacters }
}

/**
 * A message that stands twice in one append is sent once, where it stands first.
 *
 * @throws ConflictError where two different messages have one id, before anything is sent
 */
function withoutRepeats(given: readonly SizedMessage[]): readonly SizedMessage[] {
  if (given.length < 2) return given
  const firstOf = new Map<string, PlacedMessage['message']>()
  return given.filter(({ placed: { message } }, index) => {
    const first = firstOf.get(message.id)
    if (first === undefined) {
      firstOf.set(message.id, message)
      return true
    }
    if (messageFingerprint(first) === messageFingerprint(message)) return false
    throw new ConflictError(`the append holds two different messages with the id ${message.id}`, {
      field: `messages.${index}.id`,
      received: message.id,
      hint: 'Give each message an id of its own; nothing was sent.',
    })
  })
}

function patienceOf({ clock }: ClientParts, { deadlineMs = DEADLINE_MS_DEFAULT, signal }: AppendSettings): Patience {
  return { clock, endsAtMs: clock.monotonicMs() + deadlineMs, signal }
}

/** The messages of an append, in their order. */
type Places = readonly PlacedMessage[]

/** Of messages whose ids the caller chose, those that are there already; they need not be sent again. */
async function lookUp(
  parts: ClientParts,
  threadId: string,
  { chosenIds, given }: PlacedAppend,
  patience: Patience,
): Promise<ReadonlySet<string>> {
  const chosen = given.filter(({ message }) => chosenIds.has(message.id))
  try {
    return await persist(() => storedOf(parts, threadId, chosen), patience)
  } catch (error) {
    throw countedAsAppended(error, chosen, given)
  }
}

/** Who does not wait for the store need not wait for this either: references name the project's id until then. */
function tellProjectMeanwhile(parts: ClientParts): void {
  parts
    .tellProject()
    ?.catch((error: unknown) => parts.log?.debug({ error }, 'the name of the project could not be told'))
}

/** Nothing is sent where all is stored, so nobody else would notice that the thread belongs to another agent. */
async function checkAgent(parts: ClientParts, threadId: string, agent: string, patience: Patience): Promise<void> {
  const thread = await persist(
    () => parts.store.inProject(parts.projectId, (tx) => loadThread(tx, { threadId })),
    patience,
  )
  if (!thread || thread.agentName === agent) return
  throw new ConflictError(`thread "${thread.name}" belongs to agent "${thread.agentName}"`, {
    field: 'agent',
    received: agent,
    hint: "append under the thread's own agent, or to another thread",
  })
}

function place(
  { ordinals, clock }: ClientParts,
  threadId: string,
  { messages, startedAtMs, continues }: AppendInput,
): PlacedMessage[] {
  const sentAtMs = messages.map((message) => (message.sentAt === undefined ? null : Date.parse(message.sentAt)))
  const latestMs = continues ? ordinals.latestAtMs(threadId) : undefined
  const places = proposePlaces(sentAtMs, startedAtMs ?? clock.nowMs(), latestMs)
  const firstOrdinal = ordinals.next(threadId, { firstId: messages[0]?.id ?? '', places, continues })
  // Messages that name no time of their own share that of the append.
  let latest = { atMs: Number.NaN, text: '' }
  return messages.map((message, index) => {
    const atMs = places[index] ?? 0
    if (atMs !== latest.atMs) latest = { atMs, text: new Date(atMs).toISOString() }
    return { message, ordinal: firstOrdinal + index, orderedAt: latest.text }
  })
}

async function sendAll(
  parts: ClientParts,
  threadId: string,
  { jobs, places }: { jobs: readonly OutgoingJob[]; places: Places },
  options: SendOptions,
  onProgress: AppendSettings['onProgress'],
): Promise<void> {
  let sent = 0
  let acknowledged = 0
  const sendNext = async (): Promise<void> => {
    for (let next = jobs[sent++]; next !== undefined; next = jobs[sent++]) {
      try {
        await sendJob(parts, threadId, next, options)
      } catch (error) {
        // The caller is told now: nothing more of the append is to be stored behind its back.
        sent = jobs.length
        throw countedAsAppended(error, next.job.messages, places)
      }
      acknowledged += next.job.messages.length
      onProgress?.(acknowledged)
    }
  }
  if (jobs.length === 1) await sendNext()
  else await Promise.all(Array.from({ length: Math.min(JOBS_IN_FLIGHT_MAX, jobs.length) }, sendNext))
}
